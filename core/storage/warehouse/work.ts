import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type ChainRow, type WarehouseExportRow, warehouseExportCollection } from "./exports.ts";
import {
  type ChangePlace,
  endOfRun,
  type PartRow,
  type RunSettings,
  type WarehouseRunRow,
  warehouseRunCollection,
} from "./runs.ts";

export type WarehouseWork = ReturnType<typeof warehouseWork>;

/** What a dispatcher does to warehouse exports and their runs; what it writes of a run names the fence of its lease. */
export const warehouseWork = (db: Db) => ({ ...exportWork(db), ...runWork(db) });

const exportWork = (db: Db) => {
  const exports = collectionOf<WarehouseExportRow>(db, warehouseExportCollection);
  return {
    find: (exportId: string): Promise<WarehouseExportRow | null> => exports.findOne({ _id: exportId }),

    /**
     * Moves the chain and the watermarks of an export on by a run, unless another has done so. False when the chain is not
     * where the run found it.
     */
    commit: async ({ _id, sequence }: { _id: string; sequence: number }, to: Committed): Promise<boolean> => {
      const watermarks = Object.fromEntries(
        Object.entries(to.watermarks).map(([dataset, at]) => [`watermarks.${dataset}`, at]),
      );
      const filter = { _id, "chain.sequence": sequence };
      const { matchedCount } = await exports.updateOne(filter, { $set: { chain: to.chain }, $max: watermarks });
      return matchedCount === 1;
    },

    /** Notes what the last run came to. */
    note: async (_id: string, set: Partial<WarehouseExportRow>): Promise<void> => {
      await exports.updateOne({ _id }, { $set: set });
    },

    /** Notes that a notice was mailed, unless there is another one by now. */
    noteMailed: async ({ _id, notice }: Pick<WarehouseExportRow, "_id" | "notice">): Promise<void> => {
      await exports.updateOne({ _id, "notice.kind": notice?.kind }, { $unset: { notice: "" } });
    },

    /** One that was failing is well again, unless somebody has changed that. */
    recover: async (_id: string): Promise<void> => {
      await exports.updateOne({ _id, status: "failing" }, { $set: { status: "active" }, $unset: { notice: "" } });
    },

    /** Pauses one that is not paused, for a reason of ours. */
    pause: async (_id: string, reason: string): Promise<void> => {
      await exports.updateOne({ _id, status: { $ne: "paused" } }, { $set: { status: "paused", pause_reason: reason } });
    },
  };
};

const runWork = (db: Db) => {
  const runs = collectionOf<WarehouseRunRow>(db, warehouseRunCollection);
  return {
    /** Notes that a run has begun, and by which settings. False when another has it. */
    begin: async (
      { _id, fence, started_at: at }: WarehouseRunRow,
      settings: RunSettings,
      now: Date,
    ): Promise<boolean> => {
      const set = { status: "running", settings, started_at: at ?? now, next_retry_at: null } as const;
      return (await runs.updateOne({ _id, fence }, { $set: set })).matchedCount === 1;
    },

    /** Records a part that is in the store, and where its dataset goes on. False when another has the run. */
    recordPart: async ({ _id, fence }: WarehouseRunRow, index: number, part: PartRow | null, end: PartEnd) => {
      const at = `datasets.${index}`;
      const set = { [`${at}.after`]: end.after, [`${at}.is_done`]: end.isDone };
      const unset = end.isDone ? { $unset: { [`${at}.error`]: "" as const } } : {};
      const push = part === null ? {} : { $push: { [`${at}.parts`]: part } };
      const { matchedCount } = await runs.updateOne({ _id, fence }, { $set: set, ...push, ...unset });
      return matchedCount === 1;
    },

    /** The run as it is now; null when it is no longer its holder's. */
    ours: ({ _id, fence }: WarehouseRunRow): Promise<WarehouseRunRow | null> => runs.findOne({ _id, fence }),

    /** Notes what kept a dataset from being written. False as above. */
    recordError: async ({ _id, fence }: WarehouseRunRow, index: number, message: string): Promise<boolean> =>
      (await runs.updateOne({ _id, fence }, { $set: { [`datasets.${index}.error`]: message } })).matchedCount === 1,

    /** Gives datasets up: the manifest will have the others alone. False as above. */
    leave: async ({ _id, fence }: WarehouseRunRow, indexes: readonly number[]): Promise<boolean> => {
      const set = Object.fromEntries(indexes.map((index) => [`datasets.${index}.is_left`, true]));
      return (await runs.updateOne({ _id, fence }, { $set: set })).matchedCount === 1;
    },

    /** Whether the run is still its holder's. */
    isOurs: async ({ _id, fence }: WarehouseRunRow): Promise<boolean> =>
      (await runs.findOne({ _id, fence }, { projection: { _id: 1 } })) !== null,

    /** Ends a run, and gives it back. */
    end: async ({ _id, fence }: WarehouseRunRow, set: Partial<WarehouseRunRow>): Promise<void> => {
      await runs.updateOne({ _id, fence }, { $set: { ...set, lease: null, due_at: null }, $unset: endOfRun });
    },
  };
};

type PartEnd = { after: ChangePlace | null; isDone: boolean };
type Committed = { chain: ChainRow; watermarks: Record<string, Date> };
