import type { Db, FindCursor } from "mongodb";
import { quarterMs } from "../../domain/durations.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { monthOf, type SessionMonthRow, sessionMonthCollection } from "../people/session-months.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { type UserRow, userCollection } from "../people/users.ts";

const userMembers = ["created_at", "language", "country", "merged_keys"] as const;
const subscriptionMembers = [
  "channel",
  "status",
  "device",
  "created_at",
  "unsubscribed_at",
  "invalid_since",
  "resubscribed_at",
] as const;
export type ReadUser = Pick<UserRow, "_id" | (typeof userMembers)[number]>;
type ReadSubscription = Pick<SubscriptionRow, (typeof subscriptionMembers)[number]>;

const only = (members: readonly string[]) => Object.fromEntries(members.map((name) => [name, 1]));

export type Audiences = ReturnType<typeof audiences>;

/** Reads everybody of an app, page by page: only jobs do. */
export const audiences = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const sessions = collectionOf<SessionMonthRow>(db, sessionMonthCollection);
  return {
    /** All users of an app. */
    users: (of: OfApp): FindCursor<ReadUser> =>
      users.find<ReadUser>(allOf(of), { hint: "app", projection: only(userMembers) }),

    /** All subscriptions of an app. */
    subscriptions: (of: OfApp): FindCursor<ReadSubscription> =>
      subscriptions.find<ReadSubscription>(allOf(of), { hint: "app", projection: only(subscriptionMembers) }),

    /** When each user began sessions in a range of months, one user after another; who was merged is one of their own. */
    sessionsOfAll: async function* (
      { tenantId, appId }: OfApp,
      { from, to }: { from: Date; to: Date },
    ): AsyncGenerator<Sessions> {
      const filter = { app_id: appId, user_id: { $gt: "" }, month: { $gte: monthOf(from), $lt: to } };
      const found = sessions.find({ ...filter, tenant_id: tenantId }, { hint: "user" }).sort({ user_id: 1, month: 1 });
      let [user, at]: [string, Date[]] = ["", []];
      for await (const row of found) {
        if (row.user_id !== user && at.length > 0) yield { user, at };
        at = row.user_id === user ? at : [];
        user = row.user_id;
        for (const quarter of row.quarters) at.push(new Date(row.month.getTime() + quarter * quarterMs));
      }
      if (at.length > 0) yield { user, at };
    },
  };
};

/** When a user began sessions. */
export type Sessions = { user: string; at: Date[] };

const allOf = ({ tenantId, appId }: OfApp) => ({ app_id: appId, _id: { $gt: "" }, tenant_id: tenantId });
