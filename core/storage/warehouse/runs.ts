import type { Db } from "mongodb";
import type { ColumnChoice } from "../../domain/warehouse/columns.ts";
import type {
  RunErrorCode,
  RunTrigger,
  WarehouseCompression,
  WarehouseDataset,
  WarehouseFormat,
  WarehouseRunStatus,
} from "../../schema/warehouse/export.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import type { DestinationRow, SealedSecrets } from "./exports.ts";

/**
 * Where a dataset is read on: behind this row, in the order of (instant of the change, id); `source`: among those of the
 * dataset's nth other source, which come behind; `isDeletion`: among those that say that a row is gone, which come last.
 */
export type ChangePlace = { at: Date; id: string; source?: number; isDeletion?: true };

/** A file that is written and recorded: it is never written again. */
export type PartRow = { key: string; rows: number; bytes: number; sha256: string };

/** How far a dataset of a run has come. */
export type RunDatasetRow = {
  dataset: WarehouseDataset;
  from: Date;
  to: Date;
  parts: PartRow[];
  after: ChangePlace | null;
  is_done: boolean;
  /** What kept it from being written, the last time. */
  error?: string;
  /** The run was given up, and this was not written: its manifest has the other datasets alone. */
  is_left?: true;
};

/** One run of an export, and the job that makes its files. */
export type WarehouseRunRow = JobRow & {
  export_id: string;
  trigger: RunTrigger;
  status: WarehouseRunStatus;
  /** There while it has not ended: an export has one such run at most. */
  open?: true;
  /** As the export was when the run was begun; null before. */
  settings: RunSettings | null;
  datasets: RunDatasetRow[];
  manifest_key: string | null;
  /** How often it was tried again. */
  attempt: number;
  error: { code: RunErrorCode; message: string } | null;
  next_retry_at: Date | null;
  started_at: Date | null;
  completed_at: Date | null;
  created_at: Date;
};

/** What of an export decides what a run writes. */
export type RunSettings = {
  destination: DestinationRow;
  /** Those of the destination, until the run has ended. */
  secrets?: SealedSecrets;
  format: WarehouseFormat;
  compression: WarehouseCompression;
  excluded_columns: string[];
  event_names?: string[] | null;
  include_pii?: boolean;
};

/** Which columns the files of a run have. */
export const choiceOf = ({
  excluded_columns: excluded,
  include_pii: includePii = false,
}: Pick<RunSettings, "excluded_columns" | "include_pii">): ColumnChoice => ({ excluded, includePii });

/** How long a run is listed. */
export const runKeptDays = 90;

export const warehouseRunCollection: CollectionSpec = {
  name: "warehouse_runs",
  indexes: [
    dueIndex,
    { key: { export_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, _id: -1 }, name: "app" },
    {
      key: { export_id: 1, open: 1 },
      name: "open",
      unique: true,
      partialFilterExpression: { open: { $exists: true } },
    },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: runKeptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { kept: "names nobody: what it wrote is the app's, in a store of its own" },
  retention: { index: "retention" },
};

export type WarehouseRuns = ReturnType<typeof warehouseRuns>;

/** What is done to runs outside of their job. */
export const warehouseRuns = (db: Db) => {
  const rows = collectionOf<WarehouseRunRow>(db, warehouseRunCollection);
  const last = (exportId: string): Promise<WarehouseRunRow | null> =>
    rows.findOne({ export_id: exportId, _id: anyRun }, { sort: { _id: -1 }, hint: "list" });
  return {
    find: ({ tenantId, appId }: OfApp, id: string): Promise<WarehouseRunRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    /** The run of an export that has not ended: the last one, if any. */
    open: async (exportId: string): Promise<WarehouseRunRow | null> => {
      const found = await last(exportId);
      return found?.open === true ? found : null;
    },

    /** False when the export has a run that has not ended, or this very run. */
    insert: (row: WarehouseRunRow): Promise<boolean> => insertNew(rows, row),

    /** One page of an export's, the newest first. */
    page: (exportId: string, { limit, status, trigger, from, to, ...place }: RunPage): Promise<WarehouseRunRow[]> => {
      const narrowed = { ...(status !== undefined && { status }), ...(trigger !== undefined && { trigger }) };
      const _id = pageRange("warehouseRun", { from, to }, place);
      return rows
        .find({ export_id: exportId, _id, ...narrowed }, { hint: "list" })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray();
    },

    /** Ends the open run of an export; whoever works on it finds out with its next write. */
    cancelOpen: async (exportId: string, now: Date): Promise<void> => {
      const found = await last(exportId);
      if (found?.open !== true) return;
      const set = { status: "cancelled", completed_at: now, next_retry_at: null, lease: null, due_at: null } as const;
      await rows.updateOne({ _id: found._id, open: true }, { $set: set, $unset: endOfRun, $inc: { fence: 1 } });
    },
  };
};

type RunPage = PagePlace & {
  limit: number;
  status?: WarehouseRunStatus | undefined;
  trigger?: RunTrigger | undefined;
  from?: Date | undefined;
  to?: Date | undefined;
};

/** What a run has no longer once it has ended. */
export const endOfRun = { open: "", "settings.secrets": "" } as const;

const anyRun = pageRange("warehouseRun", {}, { after: null, isDescending: true });
