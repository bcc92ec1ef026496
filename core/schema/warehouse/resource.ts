import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { patterns } from "../json/patterns.ts";
import {
  cel,
  commonStatus,
  externalId,
  immutable,
  instant,
  objectName,
  resourceSpec,
  secretRef,
} from "../kubernetes/common.ts";
import { defineResource } from "../kubernetes/definition.ts";
import { destinationTexts, destinationTypes, warehouseTexts, warehouseTypes } from "./destination.ts";
import {
  frequencies,
  parquetCompressions,
  timeOfDay,
  warehouseDatasets,
  warehouseExportStatuses,
  warehouseFormats,
} from "./export.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

const { account, bucket, container, region, prefix, endpoint, kms_key_id: kmsKeyId } = destinationTexts;

const Destination = Closed(
  {
    type: Enum([...destinationTypes], {
      default: "s3",
      description:
        "s3: a bucket of S3, or of a store that speaks its protocol; gcs: Google Cloud Storage; azure_blob: Azure",
    }),
    bucket: Optional(Text({ ...bucket, description: "of s3 and gcs: the bucket" })),
    account: Optional(Text({ ...account, description: "of azure_blob: the storage account" })),
    container: Optional(Text({ ...container, description: "of azure_blob: the container" })),
    region: Optional(Text({ ...region, description: "of s3: the store's region" })),
    prefix: Optional(Text(prefix)),
    endpoint: Optional(Text(endpoint)),
    pathStyle: Optional(Flag({ description: "of s3; absent: true with an endpoint, else false" })),
    sse: Enum(["none", "AES256", "aws:kms"], { default: "none", description: "of s3: encryption by the store" }),
    kmsKeyId: Optional(Text({ ...kmsKeyId, description: "of s3: the key of KMS" })),
    secretRef: secretRef(
      "`access_key_id` and `secret_access_key` (s3), `credentials_json` (gcs), `sas_token` or `account_key` (azure_blob)",
    ),
  },
  {
    description: "where files are written to",
    ...cel(
      {
        rule: "!has(self.kmsKeyId) || self.sse == 'aws:kms'",
        message: "kmsKeyId needs sse aws:kms",
        fieldPath: ".kmsKeyId",
      },
      {
        rule: "(self.type != 'azure_blob') == has(self.bucket)",
        message: "s3 and gcs need bucket, and azure_blob has none",
        fieldPath: ".bucket",
      },
      {
        rule: "(self.type == 'azure_blob') == has(self.account) && has(self.account) == has(self.container)",
        message: "azure_blob needs account and container, and the others have none",
        fieldPath: ".account",
      },
      {
        rule: "self.type == 's3' || !(has(self.region) || has(self.pathStyle) || has(self.kmsKeyId) || self.sse != 'none')",
        message: "region, pathStyle, sse and kmsKeyId are only of s3",
        fieldPath: ".type",
      },
    ),
  },
);

const Warehouse = Closed(
  {
    type: Enum([...warehouseTypes], { description: "which warehouse" }),
    projectId: Optional(Text(warehouseTexts.project_id)),
    dataset: Optional(Text(warehouseTexts.dataset)),
    location: Optional(Text(warehouseTexts.location)),
    database: Optional(Text(warehouseTexts.database)),
    catalog: Optional(Text(warehouseTexts.catalog)),
    schema: Optional(Text(warehouseTexts.schema)),
    stage: Optional(Text(warehouseTexts.stage)),
    account: Optional(Text({ ...warehouseTexts.account, description: "of snowflake: a note for people" })),
  },
  {
    description: "the warehouse that reads from the destination: `setup_sql` of the export has its statements",
    ...cel(
      {
        rule: "self.type != 'bigquery' || (has(self.projectId) && has(self.dataset))",
        message: "bigquery needs projectId and dataset",
        fieldPath: ".type",
      },
      {
        rule: "self.type != 'snowflake' || (has(self.database) && has(self.schema) && has(self.stage))",
        message: "snowflake needs database, schema and stage",
        fieldPath: ".type",
      },
      {
        rule: "self.type != 'redshift' || (has(self.database) && has(self.schema))",
        message: "redshift needs database and schema",
        fieldPath: ".type",
      },
      {
        rule: "self.type != 'databricks' || (has(self.catalog) && has(self.schema))",
        message: "databricks needs catalog and schema",
        fieldPath: ".type",
      },
    ),
  },
);

const Schedule = Closed(
  {
    frequency: Enum([...frequencies], { default: "24h", description: "how often a run begins" }),
    startAt: Text({ ...timeOfDay, default: "00:00", description: "HH:MM of the first run of a day" }),
    timezone: Text({ maxLength: 64, pattern: patterns.timeZone, default: "UTC", description: "an IANA name" }),
    excludeWindow: Optional(
      Closed(
        {
          start: Text({ ...timeOfDay, description: "from then on" }),
          end: Text({ ...timeOfDay, description: "until then" }),
        },
        { description: "no run begins in it; it may go over midnight" },
      ),
    ),
  },
  { default: {}, description: "when runs begin" },
);

export const WarehouseExportSpec = resourceSpec(
  externalId("warehouseExport"),
  {
    appRef: objectName("name of the App, in the same namespace", cel(immutable("appRef"))),
    name: Text({ minLength: 1, maxLength: 100, description: "unique in the app" }),
    destination: Destination,
    warehouse: Optional(Warehouse),
    datasets: List(Enum([...warehouseDatasets], { description: "a dataset" }), {
      minItems: 1,
      maxItems: 10,
      "x-kubernetes-list-type": "set",
      description: "what is exported",
    }),
    eventNames: Optional(
      List(Text({ minLength: 1, maxLength: 100, description: "a name" }), {
        minItems: 1,
        maxItems: 100,
        "x-kubernetes-list-type": "set",
        description: "the only names of the dataset events that are exported; absent: all",
      }),
    ),
    includePii: Flag({
      default: false,
      description: "addresses, and what people wrote in conversations, as they are; else masked, hashed or left out",
    }),
    excludedColumns: Optional(
      List(Text({ minLength: 3, maxLength: 100, description: "as `deliveries.error_code`" }), {
        maxItems: 100,
        "x-kubernetes-list-type": "set",
        description: "columns that are left out",
      }),
    ),
    format: Enum([...warehouseFormats], {
      default: "jsonl",
      description: "jsonl: JSON lines; csv: RFC 4180; both gzip; parquet: typed columns",
    }),
    compression: Optional(
      Enum([...parquetCompressions], { description: "of parquet; absent: snappy. The others are gzip" }),
    ),
    schedule: Schedule,
  },
  {
    rule: "!has(self.warehouse) || self.format == 'parquet'",
    message: "warehouses read the format parquet",
    fieldPath: ".format",
  },
  {
    rule: "!has(self.eventNames) || 'events' in self.datasets",
    message: "eventNames narrows the dataset events, which is not exported",
    fieldPath: ".eventNames",
  },
  {
    rule: "!has(self.compression) || self.format == 'parquet'",
    message: "compression is only of the format parquet: the others are gzip",
    fieldPath: ".compression",
  },
);
export type WarehouseExportSpec = Static<typeof WarehouseExportSpec>;

const Watermark = Closed(
  { dataset: Text({ maxLength: 64, description: "the dataset" }), at: instant("up to when it is exported") },
  { description: "how far one dataset is exported" },
);

const LastRun = Closed(
  {
    id: Text({ maxLength: 128, description: "its id" }),
    status: Text({ maxLength: 32, description: "what became of it" }),
    rowCount: Integer({ minimum: 0, description: "rows that it wrote" }),
    completedAt: instant("when it ended"),
  },
  { description: "the last run that ended" },
);

const WarehouseExportStatus = Closed({
  ...commonStatus,
  appId: Optional(Text({ maxLength: 128, description: "id of the app" })),
  state: Optional(Enum([...warehouseExportStatuses], { description: "paused and resumed over the REST interface" })),
  pauseReason: Optional(Text({ maxLength: 200, description: "why it is paused" })),
  watermarks: Optional(
    List(Watermark, {
      maxItems: 10,
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["dataset"],
      description: "how far each dataset is exported; renewed with the operator's resync",
    }),
  ),
  lastRun: Optional(LastRun),
});
export type WarehouseExportStatus = Static<typeof WarehouseExportStatus>;

export const warehouseExportResource = defineResource({
  kind: "WarehouseExport",
  plural: "warehouseexports",
  idKind: "warehouseExport",
  shortNames: ["hwex"],
  scope: "Namespaced",
  description: "A continuous copy of what changes in an app, in a bucket of its owner.",
  spec: WarehouseExportSpec,
  status: WarehouseExportStatus,
  columns: [
    { name: "App", type: "string", jsonPath: ".spec.appRef" },
    { name: "State", type: "string", jsonPath: ".status.state" },
    { name: "Last-Run", type: "date", jsonPath: ".status.lastRun.completedAt" },
    { name: "Name", type: "string", jsonPath: ".spec.name", wide: true },
  ],
});
