import type { Collection, Db, Filter } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import type { ImportStats, ImportStatus, ImportType } from "../../schema/imports/import.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { everyIdOf, pageRange } from "../mongo/page-range.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import type { Leased } from "../work/leases.ts";

/** A file of users and subscriptions that is taken, or was: docs/decisions/0082. */
export type ImportRow = JobRow & {
  type: ImportType;
  file_name: string | null;
  /** `uploading`: its file is on its way, and nobody sees it. */
  status: ImportStatus | "uploading";
  stats: ImportStats;
  size_bytes: number;
  /** What was taken: rows behind the header, and bytes of the file. */
  position: { rows: number; bytes: number };
  /** The parts of the report, each named after the first row of its batch. */
  report_parts: number[];
  /** Until when the report is kept; null without one. */
  report_until: Date | null;
  error: string | null;
  is_cancelled?: true;
  requested_by: string | null;
  created_at: Date;
  completed_at: Date | null;
  /** When the document goes. */
  expires_at?: Date;
};

export const importCollection: CollectionSpec = {
  name: "imports",
  indexes: [
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, status: 1, _id: 1 }, name: "status" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: {
    kept: "counts; the file goes when the import has ended, its report 7 days later, or when somebody in it is erased",
  },
  retention: { index: "retention" },
};

/** How long the report of an import is kept, and the import itself. Source: docs/reference/imports.md#kept. */
export const reportMs = 7 * dayMs;
const keptMs = 90 * dayMs;

/** An upload takes 10 minutes at most; what has not come by then is removed. */
export const uploadMs = 15 * 60_000;

export type Imports = ReturnType<typeof imports>;

/** What a batch adds to an import. */
export type Committed = Pick<ImportRow, "stats" | "position"> & { reportPart: number | null };

export const imports = (db: Db) => {
  const rows = collectionOf<ImportRow>(db, importCollection);
  return {
    /** Writes down that a file is coming; again, when an earlier attempt was cut short. */
    begin: async (row: ImportRow): Promise<void> => {
      if (await insertNew(rows, row)) return;
      await rows.updateOne({ _id: row._id, status: "uploading" }, { $set: { due_at: row.due_at } });
    },

    /** The file is there. False when the upload took too long and was removed. */
    uploaded: async (
      { _id, tenant_id }: Pick<ImportRow, "_id" | "tenant_id">,
      set: Pick<ImportRow, "type" | "file_name" | "size_bytes">,
      now: Date,
    ): Promise<boolean> => {
      const filter = { _id, tenant_id, status: "uploading" as const };
      const { matchedCount } = await rows.updateOne(filter, { $set: { ...set, status: "pending", due_at: now } });
      return matchedCount === 1;
    },

    /** Forgets an upload that came to nothing. */
    drop: async ({ _id, tenant_id }: Pick<ImportRow, "_id" | "tenant_id">): Promise<void> => {
      await rows.deleteOne({ _id, tenant_id, status: "uploading" });
    },

    /** As it is now, with what was counted of it. */
    reread: ({ _id, tenant_id }: Pick<ImportRow, "_id" | "tenant_id">): Promise<ImportRow | null> =>
      rows.findOne({ _id, tenant_id }),

    find: ({ tenantId, appId }: OfApp, id: string): Promise<ImportRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId, status: { $ne: "uploading" } }),

    page: (
      { tenantId, appId }: OfApp,
      { after, limit }: { after: string | null; limit: number },
    ): Promise<ImportRow[]> => {
      const _id = pageRange("import", {}, { after, isDescending: true });
      const filter = { app_id: appId, _id, tenant_id: tenantId, status: { $ne: "uploading" as const } };
      return rows.find(filter, { hint: "list" }).sort({ _id: -1 }).limit(limit).toArray();
    },

    /** How many of an app wait, or are on their way; at most `most`. */
    countPending: ({ tenantId, appId }: OfApp, most: number): Promise<number> =>
      rows.countDocuments(
        { app_id: appId, status: { $in: ["pending", "uploading"] }, tenant_id: tenantId },
        { limit: most, hint: "status" },
      ),

    /** Ends one that waits, and has one that runs end with its batch; null when it has ended. */
    cancel: (tenantId: string, id: string, now: Date): Promise<ImportRow | null> =>
      cancel(rows, { _id: id, tenant_id: tenantId }, now),

    ...reports(rows),
    ...work(rows),
  };
};

/** What is asked of reports when somebody is erased. */
const reports = (rows: Collection<ImportRow>) => ({
  /** Those of an app whose report can be downloaded. */
  withReport: (appId: string, now: Date): AsyncIterable<Pick<ImportRow, "_id" | "app_id" | "completed_at">> =>
    rows.find(
      { app_id: appId, status: { $in: ["completed", "failed"] }, _id: anyId, report_until: { $gt: now } },
      { projection: { app_id: 1, completed_at: 1 }, hint: "status", batchSize: 200 },
    ),

  /** Ends the time in which a report can be downloaded: the job removes it now. */
  expireReport: async (_id: string, now: Date): Promise<void> => {
    await rows.updateOne({ _id, report_until: { $gt: now } }, { $set: { report_until: now, due_at: now } });
  },
});

/** What the job does; every write names the fence of its lease. */
const work = (rows: Collection<ImportRow>) => ({
  /**
   * Starts a file if it is its turn: of an app one is taken at a time, in the order in which they came, but for those that are
   * set aside, which delay nobody. False when it has to wait, or was cancelled.
   */
  start: async (row: ImportRow): Promise<boolean> => {
    if (row.status === "running") return true;
    const { _id, fence, app_id } = row;
    const become = async (from: ImportStatus, status: ImportStatus): Promise<boolean> =>
      (await rows.updateOne({ _id, fence, status: from }, { $set: { status } })).matchedCount === 1;
    const areOthers = () => isAny(rows, { app_id, status: "running", _id: { ...anyId, $ne: _id } });
    if (await isAny(rows, { app_id, ...waits, _id: { ...anyId, $lt: _id } })) return false;
    if ((await areOthers()) || !(await become("pending", "running"))) return false;
    if (!(await areOthers())) return true;
    await become("running", "pending"); // both were begun at the same moment
    return false;
  },

  /** Has one that failed wait again: others may go first. */
  putBack: async ({ _id, fence }: Leased): Promise<void> => {
    await rows.updateOne({ _id, fence, status: "running" }, { $set: { status: "pending" } });
  },

  /** Has the next file of an app taken now. */
  wakeNext: async ({ app_id }: ImportRow, now: Date): Promise<void> => {
    const [next] = await rows
      .find({ app_id, ...waits, _id: anyId }, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(1)
      .toArray();
    if (next !== undefined) await rows.updateOne({ _id: next._id, lease: null }, { $set: { due_at: now } });
  },

  /** Writes down what a batch came to: `lost` when another process has the job. */
  commit: async (
    { _id, fence }: Leased,
    { stats, position, reportPart }: Committed,
  ): Promise<"on" | "cancelled" | "lost"> => {
    const part = reportPart === null ? {} : { $addToSet: { report_parts: reportPart } };
    const row = await rows.findOneAndUpdate(
      { _id, fence },
      { $set: { stats, position }, ...part },
      { returnDocument: "after", projection: { is_cancelled: 1 } },
    );
    if (row === null) return "lost";
    return row.is_cancelled === true ? "cancelled" : "on";
  },

  /** Removes the document of an upload that never ended. */
  forget: async ({ _id, fence }: Leased): Promise<void> => {
    await rows.deleteOne({ _id, fence, status: "uploading" });
  },
});

const anyId = everyIdOf("import");

/** What waits for nothing but its turn. */
const waits = { status: "pending", set_aside: { $exists: false } } as const;

const isAny = async (rows: Collection<ImportRow>, filter: Filter<ImportRow>): Promise<boolean> =>
  (await rows.findOne(filter, { projection: { _id: 1 }, hint: "status" })) !== null;

/** What of an import says that it has ended. */
export const endOf = (
  status: "completed" | "failed",
  { error, hasReport, now }: { error: string | null; hasReport: boolean; now: Date },
) => ({
  status,
  error,
  completed_at: now,
  report_until: hasReport ? new Date(now.getTime() + reportMs) : null,
  expires_at: new Date(now.getTime() + keptMs),
});

export const cancelled = "HS_CANCELLED: the import was cancelled; what was taken stays taken";

const cancel = async (
  rows: Collection<ImportRow>,
  one: { _id: string; tenant_id: string },
  now: Date,
): Promise<ImportRow | null> => {
  const end = { ...endOf("failed", { error: cancelled, hasReport: false, now }), due_at: now };
  const after = { returnDocument: "after" } as const;
  const ended = await rows.findOneAndUpdate({ ...one, status: "pending" }, { $set: end }, after);
  return ended ?? rows.findOneAndUpdate({ ...one, status: "running" }, { $set: { is_cancelled: true } }, after);
};

/** Where its files are: the upload, the report's parts as they are made, and the report. */
export const importFiles = ({ app_id, _id }: Pick<ImportRow, "app_id" | "_id">) => {
  const folder = `imports/${app_id}/${_id}/`;
  return {
    all: folder,
    upload: `${folder}upload`,
    report: `${folder}report.csv`,
    part: (row: number): string => `${folder}part-${String(row).padStart(9, "0")}`,
  };
};
