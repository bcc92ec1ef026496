import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { everyIdOf } from "../mongo/page-range.ts";
import { findIds } from "../mongo/pages.ts";
import type { ExportRow } from "./export-row.ts";
import { exportCollection } from "./exports.ts";

export type ExportWork = ReturnType<typeof exportWork>;

/** What a dispatcher does to exports; every write names the fence of the lease it was made under. */
export const exportWork = (db: Db) => {
  const rows = collectionOf<ExportRow>(db, exportCollection);
  return {
    /** How many of an app are being made, as far as somebody asked. */
    running: (appId: string, most: number): Promise<number> =>
      rows.countDocuments({ app_id: appId, status: "running" }, { hint: "status", limit: most }),

    /** Whether one that waits is among the `count` oldest of its app that do, but for those that are set aside. */
    isNext: async ({ _id, app_id }: ExportRow, count: number): Promise<boolean> => {
      const waits = { app_id, status: "pending", _id: anyId, set_aside: { $exists: false } } as const;
      const options = { sort: { _id: 1 }, limit: count, hint: "status" } as const;
      const oldest = await findIds(rows, waits, options);
      return oldest.includes(_id) || oldest.length < count;
    },

    begin: async ({ _id, fence, attempts }: ExportRow, now: Date): Promise<void> => {
      const begun = { status: "running", attempts: attempts + 1, row_count: 0, counted_at: now } as const;
      await rows.updateOne({ _id, fence }, { $set: begun, $unset: { place: "" } });
    },

    /** Says how many rows there are by now; not once it has ended. */
    count: async ({ _id, fence }: ExportRow, count: number, now: Date): Promise<void> => {
      await rows.updateOne({ _id, fence, status: "running" }, { $set: { row_count: count, counted_at: now } });
    },

    /** Has it wait again. */
    putBack: async ({ _id, fence }: ExportRow, attempts: number): Promise<void> => {
      await rows.updateOne({ _id, fence }, { $set: { status: "pending", attempts } });
    },

    /** Those of an app whose file can be downloaded. */
    withFile: (appId: string, now: Date): AsyncIterable<Pick<ExportRow, "_id" | "file" | "completed_at">> =>
      rows.find(
        { app_id: appId, status: "completed", _id: anyId, expires_at: { $gt: now } },
        { projection: { file: 1, completed_at: 1 }, hint: "status", batchSize: pageRows },
      ),

    /** Ends the time in which a file can be downloaded: the job removes it now. */
    expire: async (_id: string, now: Date): Promise<void> => {
      await rows.updateOne(
        { _id, status: "completed", file: { $ne: null } },
        { $set: { expires_at: now, due_at: now } },
      );
    },

    /** Has the oldest of an app that waits looked at now. */
    wakeNext: async (appId: string, now: Date): Promise<void> => {
      const waits = { app_id: appId, status: "pending", _id: anyId, lease: null, due_at: { $gt: now } } as const;
      const oldest = { sort: { _id: 1 }, projection: { _id: 1 } } as const;
      await rows.findOneAndUpdate(waits, { $set: { due_at: now } }, oldest);
    },
  };
};

const pageRows = 200;

/** A bound without which the planner may read what belongs to others. */
const anyId = everyIdOf("export");
