import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { neverSent, waitsForFirst } from "./waiting.ts";

const isPassedOver = { status: "suppressed", suppression_reason: "duplicate_user" } as const;

/** Deliveries that were left out because another address of the same person came first, or wait for their time: what becomes of one after all takes its place. */
export const passedOver = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);

  const replace = async (made: readonly DeliveryRow[]): Promise<Set<string>> => {
    await rows.deleteMany({ _id: { $in: made.map(({ _id }) => _id) }, $or: [isPassedOver, neverSent] });
    return insertMissing(rows, made);
  };

  return {
    /** Stores outcomes in the place of such deliveries; returns the ids that had another outcome before. */
    replace: async (made: readonly DeliveryRow[]): Promise<Set<string>> => {
      const known = await replace(made);
      // The chunk that leaves an address out may have stored that in between, which it does once.
      return known.size === 0 ? known : replace(made.filter(({ _id }) => known.has(_id)));
    },

    /** Deliveries of these ids that have another outcome. */
    ended: async (ids: readonly string[]): Promise<DeliveryRow[]> => {
      const found = await rows.find({ _id: { $in: [...ids] } }, { batchSize: ids.length + 1 }).toArray();
      return found.filter(
        (row) =>
          !waitsForFirst(row) &&
          (row.status !== isPassedOver.status || row.suppression_reason !== isPassedOver.suppression_reason),
      );
    },
  };
};
