import { LRUCache } from "lru-cache";
import type { Db } from "mongodb";
import { atMostEntries } from "../../domain/at-most-entries.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertMissing } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";

/** A message of the stream whose events are stored and counted. */
export type CountedBatchRow = { _id: string; at: Date };

const rememberedDays = 14; // a stream keeps a message no longer without being asked for it

export const countedBatchCollection: CollectionSpec = {
  name: "counted_event_batches",
  indexes: [{ key: { at: 1 }, name: "retention", expireAfterSeconds: rememberedDays * 86_400 }],
  owner: { kind: "installation" },
  appRemoval: { kept: "hashes that name no app, until their retention" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type CountedBatches = ReturnType<typeof countedBatches>;

const page = 500;
const mostRemembered = 20_000; // in memory: what this process has counted of late

/** Which messages of the stream are done, so that one that comes again is not counted again. */
export const countedBatches = (db: Db) => {
  const rows = collectionOf<CountedBatchRow>(db, countedBatchCollection);
  const own = new LRUCache<string, true>(atMostEntries(mostRemembered));
  return {
    /** Those of these that are done. */
    known: async (batches: readonly string[]): Promise<Set<string>> => {
      const others = batches.filter((one) => !own.has(one));
      const found = await inPages(others, page, (some) =>
        rows.find({ _id: { $in: some } }, { projection: { _id: 1 }, batchSize: page + 1 }).toArray(),
      );
      return new Set([...batches.filter((one) => own.has(one)), ...found.map(({ _id }) => _id)]);
    },

    /** Says that batches are done. */
    add: async (batches: readonly string[], now: Date): Promise<void> => {
      if (batches.length === 0) return;
      await insertMissing(
        rows,
        batches.map((_id) => ({ _id, at: now })),
      );
      for (const one of batches) own.set(one, true);
    },
  };
};
