import type { Db } from "mongodb";
import type { Sealed } from "../../runtime/process/key-ring.ts";
import type { WarehouseSecret } from "../../schema/warehouse/destination.ts";
import type {
  ParquetCompression,
  WarehouseCompression,
  WarehouseDataset,
  WarehouseExportStatus,
  WarehouseFormat,
  WarehouseRunStatus,
  WarehouseSchedule,
} from "../../schema/warehouse/export.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { appSettings } from "../settings/app-settings.ts";
import type { Managed } from "../settings/managed.ts";
import { dueIndex } from "../work/due.ts";
import type { Changeable } from "../work/intended-changes.ts";
import type { JobRow } from "../work/jobs.ts";

/** A bucket of S3, or of a store that speaks its protocol. */
export type S3Row = {
  type: "s3";
  bucket: string;
  region: string;
  prefix: string;
  endpoint: string | null;
  path_style: boolean;
  sse: "none" | "AES256" | "aws:kms";
  kms_key_id: string | null;
};

/** A bucket of Google Cloud Storage. */
export type GcsRow = { type: "gcs"; bucket: string; prefix: string; endpoint: string | null };

/** A container of Azure Blob Storage. */
export type AzureBlobRow = {
  type: "azure_blob";
  account: string;
  container: string;
  prefix: string;
  endpoint: string | null;
};

/** Where an export writes, without its secrets. */
export type DestinationRow = S3Row | GcsRow | AzureBlobRow;

/** The warehouse that reads from the store. */
export type WarehouseTarget =
  | { type: "bigquery"; project_id: string; dataset: string; location: string }
  | { type: "snowflake"; account?: string; database: string; schema: string; stage: string }
  | { type: "redshift"; database: string; schema: string }
  | { type: "databricks"; catalog: string; schema: string };

/** The secrets of its type, each sealed under {@link warehouseSecretPlace}. */
export type SealedSecrets = Partial<Record<WarehouseSecret, Sealed>>;

/** The last manifest of an export's chain; sequence 0 before the first. */
export type ChainRow = { sequence: number; run_id: string | null; key: string | null; sha256: string | null };

/** Since when it fails, and what the store said last. */
export type WarehouseNotice = { kind: "failing" | "paused"; since: Date; error: string };

/** A continuous copy of an app's data, and the work that begins its runs: `due_at` is when its schedule is looked at. */
export type WarehouseExportRow = Changeable &
  JobRow & {
    name: string;
    destination: DestinationRow;
    /** Absent: the store is all there is. */
    warehouse?: WarehouseTarget;
    secrets: SealedSecrets;
    secrets_updated_at: Date;
    datasets: WarehouseDataset[];
    /** Of the dataset `events`; null or absent: all. */
    event_names?: string[] | null;
    excluded_columns: string[];
    /** Absent: false. */
    include_pii?: boolean;
    format: WarehouseFormat;
    /** Of Parquet; absent: snappy. */
    compression?: ParquetCompression;
    schedule: WarehouseSchedule;
    status: WarehouseExportStatus;
    pause_reason: string | null;
    failure_count: number;
    /** Since when every run has failed. */
    failing_since: Date | null;
    /** Up to where each dataset is exported. */
    watermarks: Partial<Record<WarehouseDataset, Date>>;
    chain: ChainRow;
    /** The end of the last window that its schedule has begun. */
    scheduled_until: Date;
    /** What the contact of the tenant is to be mailed; absent: nothing. */
    notice?: WarehouseNotice;
    last_run: { id: string; status: WarehouseRunStatus; row_count: number; completed_at: Date } | null;
    managed: Managed | null;
    created_at: Date;
    updated_at: Date;
  };

export const warehouseExportCollection: CollectionSpec = {
  name: "warehouse_exports",
  indexes: [
    dueIndex,
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until it is deleted" },
};

/** How the files of an export are compressed. */
export const compressionOf = ({
  format,
  compression = "snappy",
}: Pick<WarehouseExportRow, "format" | "compression">): WarehouseCompression =>
  format === "parquet" ? compression : "gzip";

/** Where a secret of an export is sealed for. */
export const warehouseSecretPlace = (id: string, name: string): string => `warehouse_exports/${id}/${name}`;

export type WarehouseExports = ReturnType<typeof warehouseExports>;

/** What the REST interface does to warehouse exports. */
export const warehouseExports = (db: Db) => {
  const rows = collectionOf<WarehouseExportRow>(db, warehouseExportCollection);
  return {
    ...appSettings<WarehouseExportRow>(db, warehouseExportCollection, "list"),

    /** The exports of an app beside one. */
    countOthers: (appId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId, _id: { $ne: exceptId } }, { hint: "list" }),

    findByName: ({ tenantId, appId }: OfApp, name: string): Promise<WarehouseExportRow | null> =>
      rows.findOne({ app_id: appId, name, tenant_id: tenantId }, { hint: "name" }),

    /** One page of an app's, the newest first. */
    page: (
      { tenantId, appId }: OfApp,
      { limit, status, ...place }: PagePlace & { limit: number; status?: WarehouseExportStatus | undefined },
    ): Promise<WarehouseExportRow[]> => {
      const of = { app_id: appId, tenant_id: tenantId, _id: pageRange("warehouseExport", {}, place) };
      return rows
        .find({ ...of, ...(status !== undefined && { status }) }, { hint: "list" })
        .sort({ _id: -1 })
        .limit(limit)
        .toArray();
    },
  };
};
