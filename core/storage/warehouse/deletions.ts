import type { Db } from "mongodb";
import type { DeletedDataset } from "../../domain/warehouse/columns.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";

/** That a row of a dataset is gone. `_id` is its id, `updated_at` when that was noted. */
export type DeletionRow = { _id: string; tenant_id: string; app_id: string; dataset: DeletedDataset; updated_at: Date };

const keptDays = 30;

export const deletionCollection: CollectionSpec = {
  name: "deletions",
  indexes: [
    { key: { app_id: 1, dataset: 1, updated_at: 1, _id: 1 }, name: "changed" },
    { key: { updated_at: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "changed" },
  erasure: { kept: "an id that leads to nobody any more, so that warehouses forget what they have under it" },
  retention: { index: "retention" },
};

export type Deletions = ReturnType<typeof deletions>;

/** What warehouse exports say is gone: docs/reference/warehouse.md#deletions. */
export const deletions = (db: Db) => {
  const rows = collectionOf<DeletionRow>(db, deletionCollection);
  return {
    /**
     * Notes rows that are gone, or are about to go: a run leaves out what is there after all. May be done again, then they
     * are exported again.
     */
    note: async ({ tenantId, appId }: OfApp, dataset: DeletedDataset, ids: readonly string[], now: Date) => {
      await inPages(ids, pageIds, async (some) => {
        const set = { tenant_id: tenantId, app_id: appId, dataset, updated_at: now };
        const writes = some.map((_id) => ({ updateOne: { filter: { _id }, update: { $set: set }, upsert: true } }));
        await rows.bulkWrite(writes, { ordered: false });
        return [];
      });
    },
  };
};

const pageIds = 500; // in one command
