import type { Db } from "mongodb";
import { collectionOf } from "./collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscriptions.ts";

/** An address that the provider says is gone, and since when. */
export type Gone = Pick<SubscriptionRow, "_id" | "token"> & { since: Date };

/**
 * Marks subscriptions whose address is gone. One that got a new token meanwhile is left alone, and so is one whose device
 * was seen after the provider lost it: it has registered the same token again.
 */
export const invalidated =
  (db: Db) =>
  async (gone: readonly Gone[], now: Date): Promise<void> => {
    const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
    await rows.bulkWrite(
      gone.map(({ _id, token, since }) => ({
        updateOne: {
          filter: { _id, token, status: { $ne: "invalid" as const }, last_active_at: { $lte: since } },
          update: { $set: { status: "invalid" as const, status_reason: "token_invalid", updated_at: now } },
        },
      })),
      { ordered: false },
    );
  };
