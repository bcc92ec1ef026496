import type { Db } from "mongodb";
import type { DeliveryStatus } from "../../domain/messages/progress.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";

/** How many deliveries of a message ended so. */
export type Ended = { status: DeliveryStatus; reason: string | null; count: number };

/** Counts the deliveries of a message by how they ended. */
export const deliveryEnds =
  (db: Db) =>
  async (messageId: string): Promise<Ended[]> => {
    const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
    const reason = { $ifNull: ["$suppression_reason", { $ifNull: ["$error_code", null] }] };
    const found = await rows
      .aggregate<{ _id: Omit<Ended, "count">; count: number }>([
        { $match: { message_id: messageId, position: anyText } },
        { $group: { _id: { status: "$status", reason }, count: { $sum: 1 } } },
      ])
      .toArray();
    return found.map(({ _id, count }) => ({ ..._id, count }));
  };
