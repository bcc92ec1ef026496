import { createHash } from "node:crypto";
import type { Db } from "mongodb";
import { allCollections, ensureIndexes } from "./collections.ts";
import { dataVersionCollection } from "./migrations/data-version.ts";
import { collectionOf } from "./mongo/collection.ts";
import { insertNew } from "./mongo/duplicate.ts";

/** When a program saw last that all indexes are as its source declares them; `declared` is a hash of what it declares. */
type KnownIndexesRow = { _id: string; declared: string; seen_at: Date };

const id = "indexes"; // of the one document
const trustMs = 3_600_000;

/**
 * Makes the indexes that are missing, as {@link ensureIndexes} does, unless a program that declares the same has seen all of
 * them within the last hour: to look at each collection is a fifth of the time that a start takes. Source: docs/decisions/0242.
 * @throws IndexError
 */
export const ensureKnownIndexes = async (db: Db, now: Date): Promise<void> => {
  const known = await collectionOf<KnownIndexesRow>(db, dataVersionCollection).findOne({ _id: id });
  const isFresh = known !== null && Math.abs(now.getTime() - known.seen_at.getTime()) < trustMs; // a clock may be wrong
  if (isFresh && known.declared === declared()) return;
  await ensureIndexes(db);
  await noteIndexes(db, now);
};

/** Notes that all indexes are as they are declared here. */
export const noteIndexes = async (db: Db, now: Date): Promise<void> => {
  const rows = collectionOf<KnownIndexesRow>(db, dataVersionCollection);
  const seen = { declared: declared(), seen_at: now };
  const { matchedCount } = await rows.updateOne({ _id: id }, { $set: seen });
  if (matchedCount === 0) await insertNew(rows, { _id: id, ...seen }); // else another program has, in the same moment
};

const declared = (): string => {
  const all = allCollections.map(({ name, indexes, former = [] }) => ({ name, indexes, former }));
  return createHash("sha256").update(JSON.stringify(all)).digest("hex");
};
