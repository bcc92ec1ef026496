import type { Db, FindCursor } from "mongodb";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { type UserRow, userCollection } from "../people/users.ts";
import { type Active, activityOf } from "./activity.ts";

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

const usersAtOnce = 1_000;

const only = (members: readonly string[]) => Object.fromEntries(members.map((name) => [name, 1]));

export type Audiences = ReturnType<typeof audiences>;

/** Reads everybody of an app, page by page: only jobs do. */
export const audiences = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** All users of an app, in the order of ids: whoever reads them may take their time between two pages. */
    users: async function* ({ tenantId, appId }: OfApp): AsyncGenerator<ReadUser> {
      for (let after = ""; ; ) {
        const filter = { app_id: appId, _id: idsBehind("user", after), tenant_id: tenantId };
        const options = { hint: "app", projection: only(userMembers), batchSize: usersAtOnce + 1 };
        const page = await users.find<ReadUser>(filter, options).sort({ _id: 1 }).limit(usersAtOnce).toArray();
        yield* page;
        const last = page.at(-1);
        if (last === undefined || page.length < usersAtOnce) return;
        after = last._id;
      }
    },

    /** All subscriptions of an app. */
    subscriptions: (of: OfApp): FindCursor<ReadSubscription> =>
      subscriptions.find<ReadSubscription>(allOf(of), { hint: "app", projection: only(subscriptionMembers) }),

    /** When users were active: see {@link activityOf}. */
    activity: (of: OfApp, range: { from: Date; to: Date }): AsyncGenerator<Active> => activityOf(db, of, range),
  };
};

const allOf = ({ tenantId, appId }: OfApp) => ({ app_id: appId, _id: { $gt: "" }, tenant_id: tenantId });
