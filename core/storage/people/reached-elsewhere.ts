import type { Db } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

type Address = { subscription_id: string; user_id: string | null };

/** Which of the people who have some addresses on a channel can be reached there by another one. At most 500 addresses. */
export const reachedElsewhere = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return async (
    { app_id, channel }: { app_id: string; channel: Channel },
    addresses: readonly Address[],
  ): Promise<Set<string>> => {
    const ids = addresses.map(({ subscription_id: id }) => id);
    const users = [...new Set(addresses.flatMap(({ user_id: id }) => id ?? []))];
    const of = { app_id, user_id: { $in: users }, channel, status: "subscribed" as const, _id: { $nin: ids } };
    const found = await rows.find(of, { hint: "user", projection: { user_id: 1 } }).toArray();
    return new Set(found.map(({ user_id: id }) => id));
  };
};
