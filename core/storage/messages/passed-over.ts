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
    const found = await rows.find({ _id, ...isPassedOver }, { batchSize: made.length + 1 }).toArray();
    await quarters.touch(found);
    await rows.deleteMany({ _id, ...neverSent });
    const before = new Map(found.map((row) => [row._id, row]));
    const [others, theirs] = [made.filter((row) => !before.has(row._id)), made.filter((row) => before.has(row._id))];
    const known = await takeTheirPlace(theirs, before);
    await quarters.touch(found);
    return others.length === 0 ? known : new Set([...known, ...(await insertMissing(rows, others))]);
  };

  /** In one write each: that the person was thought of is told once, by whichever of the two is there. */
  const takeTheirPlace = async (
    made: readonly DeliveryRow[],
    before: ReadonlyMap<string, DeliveryRow>,
  ): Promise<Set<string>> => {
    if (made.length === 0) return new Set();
    const writes = made.map(({ _id, ...row }) => {
      const { received, created_at = row.created_at } = before.get(_id) ?? {};
      const replacement = { ...row, received: { queued: received?.queued ?? created_at } };
      return { replaceOne: { filter: { _id, ...isPassedOver }, replacement } };
    });
    await rows.bulkWrite(writes, { ordered: false });
    const ids = { $in: made.map(({ _id }) => _id) };
    const there = await rows.find({ _id: ids }, { projection: { position: 1 }, batchSize: made.length + 1 }).toArray();
    const ours = new Set(made.map(({ position }) => position));
    return new Set(there.flatMap(({ _id, position }) => (ours.has(position) ? [] : _id)));
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
