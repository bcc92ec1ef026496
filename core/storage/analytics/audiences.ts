import type { Db, FindCursor } from "mongodb";
import { quarterMs } from "../../domain/durations.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { monthOf, type SessionMonthRow, sessionMonthCollection } from "../people/session-months.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { type UserRow, userCollection } from "../people/users.ts";

type ReadUser = Pick<UserRow, "created_at" | "language" | "country">;
type ReadSubscription = Pick<SubscriptionRow, "channel" | "status" | "device" | "created_at" | "unsubscribed_at">;

export type Audiences = ReturnType<typeof audiences>;

/** Reads everybody of an app, page by page: only jobs do. */
export const audiences = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const sessions = collectionOf<SessionMonthRow>(db, sessionMonthCollection);
  return {
    /** All users of an app. */
    users: (of: OfApp): FindCursor<ReadUser> =>
      users.find<ReadUser>(allOf(of), { hint: "app", projection: { created_at: 1, language: 1, country: 1 } }),

    /** All subscriptions of an app. */
    subscriptions: (of: OfApp): FindCursor<ReadSubscription> =>
      subscriptions.find<ReadSubscription>(allOf(of), {
        hint: "app",
        projection: { channel: 1, status: 1, device: 1, created_at: 1, unsubscribed_at: 1 },
      }),

    /** When each user began sessions in a range of months, one user after another. */
    sessionsOfAll: async function* (
      { tenantId, appId }: OfApp,
      { from, to }: { from: Date; to: Date },
    ): AsyncGenerator<Date[]> {
      const filter = { app_id: appId, user_id: { $gt: "" }, month: { $gte: monthOf(from), $lt: to } };
      const found = sessions.find({ ...filter, tenant_id: tenantId }, { hint: "user" }).sort({ user_id: 1, month: 1 });
      let [user, at] = ["", [] as Date[]];
      for await (const row of found) {
        if (row.user_id !== user && at.length > 0) yield at;
        at = row.user_id === user ? at : [];
        user = row.user_id;
        for (const quarter of row.quarters) at.push(new Date(row.month.getTime() + quarter * quarterMs));
      }
      if (at.length > 0) yield at;
    },
  };
};

const allOf = ({ tenantId, appId }: OfApp) => ({ app_id: appId, _id: { $gt: "" }, tenant_id: tenantId });
