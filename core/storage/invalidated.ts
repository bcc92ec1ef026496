import type { Db } from "mongodb";
import { collectionOf } from "./collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscriptions.ts";

/**
 * Marks subscriptions whose address the provider says is gone. One that got a new token meanwhile is left alone: the
 * token that was refused is a part of the filter.
 */
export const invalidated =
  (db: Db) =>
  async (gone: readonly Pick<SubscriptionRow, "_id" | "token">[], now: Date): Promise<void> => {
    const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
    await rows.bulkWrite(
      gone.map(({ _id, token }) => ({
        updateOne: {
          filter: { _id, token, status: { $ne: "invalid" as const } },
          update: { $set: { status: "invalid" as const, status_reason: "token_invalid", updated_at: now } },
        },
      })),
      { ordered: false },
    );
  };
