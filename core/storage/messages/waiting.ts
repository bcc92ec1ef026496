import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";

export type WaitingDeliveries = ReturnType<typeof waitingDeliveries>;

/** Deliveries that wait for a device (`scheduled`): what becomes of one takes its place. */
export const waitingDeliveries = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return {
    /** Stores outcomes in the place of waiting deliveries; returns the ids that had another outcome before. */
    replace: async (made: readonly DeliveryRow[]): Promise<Set<string>> => {
      await rows.deleteMany({ _id: { $in: made.map(({ _id }) => _id) }, status: "scheduled" });
      return insertMissing(rows, made);
    },

    /** Deliveries of these ids that wait no more. */
    ended: (ids: readonly string[]): Promise<DeliveryRow[]> =>
      rows.find({ _id: { $in: [...ids] }, status: { $ne: "scheduled" } }, { batchSize: ids.length + 1 }).toArray(),

    /** Ends waiting deliveries without a send. */
    end: async (ids: readonly string[], as: Ended, now: Date): Promise<void> => {
      if (ids.length === 0) return;
      const set = as === "superseded" ? superseded : { ...expired, expired_at: now };
      await rows.updateMany(
        { _id: { $in: [...ids] }, status: "scheduled" },
        { $set: { ...set, updated_at: now }, $unset: { scheduled_for: "" } },
      );
    },
  };
};

type Ended = "superseded" | "expired";

const superseded = { status: "suppressed", suppression_reason: "superseded", error_code: "SUPERSEDED" } as const;
const expired = {
  status: "expired",
  error_code: "EXPIRED",
  error_message: "the device reported no token in time",
} as const;
