import type { Db } from "mongodb";
import type { BadgeChange } from "../../channels/kit/channel.ts";
import { collectionOf } from "../mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

/** Messages that may add to one subscription's badge until another dispatcher goes on with the first try of a killed one. */
const remembered = 32;

/**
 * Changes the badges of at most 500 subscriptions as a message says, before it is sent to them, and gives what was added
 * up; nothing is written when nothing is added. A message adds to a badge once, also when its first try is repeated.
 * Source: docs/reference/channels.md#badges.
 */
export const badges = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return async (
    messageId: string,
    subscriptionIds: readonly string[],
    change: BadgeChange,
  ): Promise<ReadonlyMap<string, number>> => {
    const all = { _id: { $in: [...subscriptionIds] } };
    if ("set" in change) {
      await rows.updateMany({ ...all, badge: { $ne: change.set } }, { $set: { badge: change.set } });
      return new Map(); // the same for all: their channel renders it
    }
    if (change.add > 0) {
      await rows.updateMany(
        { ...all, badge_counted: { $ne: messageId } },
        { $inc: { badge: change.add }, $push: { badge_counted: { $each: [messageId], $slice: -remembered } } },
      );
    }
    const options = { projection: { badge: 1 }, batchSize: subscriptionIds.length + 1 };
    const found = await rows.find(all, options).toArray();
    return new Map(found.map(({ _id, badge = 0 }) => [_id, badge]));
  };
};
