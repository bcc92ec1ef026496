import type { Db } from "mongodb";
import { dueQuarters } from "../analytics/due-quarters.ts";
import { collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { neverSent } from "./first-waiting.ts";

export type WaitingDeliveries = ReturnType<typeof waitingDeliveries>;

/** Deliveries that wait for their time or a device (`scheduled`): what becomes of one takes its place. */
export const waitingDeliveries = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  const quarters = dueQuarters(db);
  const ended = (ids: readonly string[]): Promise<DeliveryRow[]> =>
    rows.find({ _id: { $in: [...ids] }, $nor: [neverSent] }, { batchSize: ids.length + 1 }).toArray();
  return {
    /** Stores outcomes in the place of waiting deliveries; returns the ids that had another outcome before. */
    replace: async (made: readonly DeliveryRow[]): Promise<Set<string>> => {
      await rows.deleteMany({ _id: { $in: made.map(({ _id }) => _id) }, ...neverSent });
      return insertMissing(rows, made);
    },

    /** Deliveries of these ids that wait no more. */
    ended,

    /** Ends waiting deliveries of a message that was cancelled. May be repeated. */
    cancel: async (ids: readonly string[], now: Date): Promise<void> => {
      const received = { queued: now, cancelled: now };
      const set = { status: "cancelled" as const, received, updated_at: now };
      await rows.updateMany({ _id: { $in: [...ids] }, ...neverSent }, { $set: set, $unset: { scheduled_for: "" } });
      await quarters.touch(await ended(ids)); // also those that an earlier run has ended
    },

    /** Ends waiting deliveries without a send. */
    end: async (ids: readonly string[], as: Ended, now: Date): Promise<void> => {
      if (ids.length === 0) return;
      const set =
        as === "superseded"
          ? { ...superseded, received: { queued: now, suppressed: now } }
          : { ...expired, expired_at: now, received: { queued: now, expired: now } };
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
