import type { Db } from "mongodb";
import { dueQuarters } from "../analytics/due-quarters.ts";
import { collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { neverSent, waitsForFirst } from "./first-waiting.ts";

const isPassedOver = { status: "suppressed", suppression_reason: "duplicate_user" } as const;

/** Deliveries that were left out because another address of the same person came first, or wait for their time: what becomes of one after all takes its place. */
export const passedOver = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);

  const quarters = dueQuarters(db);

  /** What is replaced counted in another quarter. A kill in between leaves it to be counted again a moment later. */
  const replace = async (made: readonly DeliveryRow[]): Promise<Set<string>> => {
    const _id = { $in: made.map((one) => one._id) };
    const before = await rows.find({ _id, ...isPassedOver }, { batchSize: made.length + 1 }).toArray();
    await quarters.touch(before);
    await rows.deleteMany({ _id, $or: [isPassedOver, neverSent] });
    await quarters.touch(before);
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
