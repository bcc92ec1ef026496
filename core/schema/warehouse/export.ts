import { type Static, Type } from "typebox";
import { customEventLimits, eventNamePattern } from "../events/custom.ts";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns, worded } from "../json/patterns.ts";
import { WarehouseDestination, WarehouseDestinationInput } from "./destination.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text } = Type;

/** Bounds of warehouse exports. Source: docs/reference/warehouse.md#bounds. */
export const warehouseLimits = { exports: 10, partRows: 250_000, partBytes: 100_000_000, retries: 5 } as const;

/** What can be exported. Source: docs/reference/warehouse.md#datasets. */
export const warehouseDatasets = [
  "users",
  "subscriptions",
  "events",
  "messages",
  "deliveries",
  "message_events",
  "suppressions",
  "event_definitions",
  "conversations",
  "conversation_messages",
] as const;
export type WarehouseDataset = (typeof warehouseDatasets)[number];

/** Datasets whose rows can go. Source: docs/reference/warehouse.md#deletions. */
export const deletedDatasets = [
  "users",
  "subscriptions",
  "suppressions",
  "conversations",
  "conversation_messages",
] as const satisfies WarehouseDataset[];

export const warehouseFormats = ["jsonl", "csv", "parquet"] as const;
export type WarehouseFormat = (typeof warehouseFormats)[number];

/** How what is in a file is made small: Parquet by one of two, the others by gzip. */
export const parquetCompressions = ["snappy", "zstd"] as const;
export type ParquetCompression = (typeof parquetCompressions)[number];
export type WarehouseCompression = ParquetCompression | "gzip";

export const frequencies = ["15m", "1h", "6h", "12h", "24h"] as const;
export type Frequency = (typeof frequencies)[number];

export const warehouseExportStatuses = ["active", "paused", "failing"] as const;
export type WarehouseExportStatus = (typeof warehouseExportStatuses)[number];

const time = worded("^([01][0-9]|2[0-3]):[0-5][0-9]$", "must be a time of day, such as 03:30");
/** What a time of day looks like. */
export const timeOfDay = { maxLength: 5, pattern: time };
const TimeOfDay = Text(timeOfDay);

const Name = Text({ minLength: 1, maxLength: 100, pattern: patterns.noNull, description: "unique in the app" });
const Schedule = Closed({
  frequency: Enum([...frequencies]),
  start_at: Optional(Text({ ...TimeOfDay, description: "HH:MM of the first run of a day; default 00:00" })),
  timezone: Optional(
    Text({ maxLength: 64, pattern: patterns.timeZone, description: "of the IANA database; default UTC" }),
  ),
  exclude_window: Optional(
    Nullable(
      Closed(
        { start: TimeOfDay, end: TimeOfDay },
        { description: "no run begins in it; it may go over midnight. The end is not in it" },
      ),
    ),
  ),
});
export type WarehouseScheduleInput = Static<typeof Schedule>;

const Datasets = List(Enum([...warehouseDatasets]), { minItems: 1, maxItems: 10, uniqueItems: true });
const Excluded = List(Text({ minLength: 3, maxLength: 100 }), {
  maxItems: 100,
  uniqueItems: true,
  description: "columns that are left out, as `deliveries.error_code`",
});
const EventNames = Nullable(
  List(Text({ minLength: 1, maxLength: customEventLimits.nameCharacters, pattern: eventNamePattern }), {
    minItems: 1,
    maxItems: 100,
    uniqueItems: true,
    description: "the only names of the dataset `events` that are exported; null, the default: all",
  }),
);
const IncludePii = Flag({
  description:
    "default false: addresses are masked, with their HMAC-SHA-256 beside, and of conversations there is no text; tokens are always masked",
});
const Format = Enum([...warehouseFormats], {
  description:
    "jsonl: a JSON object on each line, the default; csv: RFC 4180 with a line of names; both gzip; parquet: typed columns",
});
const Compression = Enum([...parquetCompressions], { description: "of parquet; default snappy. The others are gzip" });

/** Body of `POST …/warehouse-exports`. */
export const CreateWarehouseExport = Closed({
  name: Name,
  destination: WarehouseDestinationInput,
  datasets: Datasets,
  event_names: Optional(EventNames),
  excluded_columns: Optional(Excluded),
  include_pii: Optional(IncludePii),
  format: Optional(Format),
  compression: Optional(Compression),
  schedule: Optional(Schedule),
  start_from: Optional(
    Type.String({ format: "date-time", description: "what changed since then is exported; default now" }),
  ),
  test: Optional(Flag({ description: "whether the destination is tried first; default true" })),
});
export type CreateWarehouseExport = Static<typeof CreateWarehouseExport>;

/** Body of `PATCH …/warehouse-exports/{exportId}`. */
export const UpdateWarehouseExport = Closed({
  name: Optional(Name),
  destination: Optional(WarehouseDestinationInput),
  datasets: Optional(Datasets),
  event_names: Optional(EventNames),
  excluded_columns: Optional(Excluded),
  include_pii: Optional(IncludePii),
  format: Optional(Format),
  compression: Optional(Compression),
  schedule: Optional(Schedule),
  test: Optional(Flag({ description: "whether a changed destination is tried first; default true" })),
});
export type UpdateWarehouseExport = Static<typeof UpdateWarehouseExport>;

const Count = Integer({ minimum: 0 });

const ShownSchedule = Type.Object({
  frequency: Enum([...frequencies]),
  start_at: Text(),
  timezone: Text(),
  exclude_window: Nullable(Type.Object({ start: Text(), end: Text() })),
});
export type WarehouseSchedule = Static<typeof ShownSchedule>;

export const warehouseRunStatuses = ["pending", "running", "completed", "partial", "failed", "cancelled"] as const;
export type WarehouseRunStatus = (typeof warehouseRunStatuses)[number];

/** A continuous copy of what an app has. Source: docs/reference/warehouse.md. */
export const WarehouseExport = Type.Object({
  id: Text(),
  app_id: Text(),
  name: Text(),
  destination: WarehouseDestination,
  datasets: List(Enum([...warehouseDatasets])),
  event_names: Nullable(List(Text())),
  excluded_columns: List(Text()),
  include_pii: Flag(),
  format: Enum([...warehouseFormats]),
  compression: Enum(["gzip", ...parquetCompressions]),
  schedule: ShownSchedule,
  setup_sql: Nullable(
    Text({ description: "of a warehouse: statements that make its tables and load what is in the store; else null" }),
  ),
  status: Enum([...warehouseExportStatuses]),
  pause_reason: Nullable(Text()),
  failure_count: Type.Integer({ minimum: 0, description: "runs that failed in a row" }),
  watermarks: Type.Record(Text(), Text(), { description: "dataset to the instant up to which it is exported" }),
  last_run: Nullable(
    Type.Object({ id: Text(), status: Enum([...warehouseRunStatuses]), row_count: Count, completed_at: DateTime }),
  ),
  next_run_at: Nullable(DateTime),
  managed: Flag({ description: "whether a custom resource keeps it as it is" }),
  created_at: DateTime,
  updated_at: DateTime,
});
export type WarehouseExport = Static<typeof WarehouseExport>;

/** The reply to the creation of one. */
export const WarehouseExportMade = Type.Object({
  ...WarehouseExport.properties,
  hash_key: Text({
    description: "the app's key of the hashes in files, 64 hexadecimal digits of 32 bytes; shown in this reply alone",
  }),
});
export type WarehouseExportMade = Static<typeof WarehouseExportMade>;

export const WarehouseExportPage = PageOf(WarehouseExport);
export const warehouseExportPaging = pagingOf({ most: 100, sort: "-created_at" });

/** Query of `GET …/warehouse-exports`. */
export const WarehouseExportListQuery = Type.Object({
  ...warehouseExportPaging.pageQuery,
  status: Optional(Enum([...warehouseExportStatuses])),
});
export type WarehouseExportListQuery = Static<typeof WarehouseExportListQuery>;

/** Body of `POST …/pause`. */
export const PauseWarehouseExport = Closed({
  reason: Optional(Text({ maxLength: 200, pattern: patterns.noNull, description: "shown as `pause_reason`" })),
});
export type PauseWarehouseExport = Static<typeof PauseWarehouseExport>;

/** Body of `POST …/resume`. */
export const ResumeWarehouseExport = Closed({
  catch_up: Optional(Flag({ description: "default true; false leaves out what changed until now" })),
});
export type ResumeWarehouseExport = Static<typeof ResumeWarehouseExport>;

/** Body of `POST …/test`. */
export const TestWarehouseExport = Closed({
  destination: Optional(WarehouseDestinationInput),
});
export type TestWarehouseExport = Static<typeof TestWarehouseExport>;

export const testSteps = ["resolve", "authenticate", "write", "read_back", "delete", "list"] as const;

/** What a test of a destination found: each step that was made, in its order. */
export const WarehouseTestResult = Type.Object({
  ok: Flag(),
  steps: List(Type.Object({ name: Enum([...testSteps]), ok: Flag(), message: Nullable(Text()), duration_ms: Count })),
});
export type WarehouseTestResult = Static<typeof WarehouseTestResult>;

/** Body of `POST …/backfill`. */
export const BackfillWarehouseExport = Closed({
  from: Optional(Type.String({ format: "date-time", description: "included; with `to`" })),
  to: Optional(Type.String({ format: "date-time", description: "not included; with `from`" })),
  datasets: Optional(Datasets),
});
export type BackfillWarehouseExport = Static<typeof BackfillWarehouseExport>;

export const runTriggers = ["schedule", "manual", "backfill"] as const;
export type RunTrigger = (typeof runTriggers)[number];

export const runErrorCodes = ["AUTH", "NOT_FOUND", "PERMISSION", "NETWORK", "QUOTA", "INTERNAL"] as const;
export type RunErrorCode = (typeof runErrorCodes)[number];

/** One run of an export. Source: docs/reference/warehouse.md#runs. */
export const WarehouseRun = Type.Object({
  id: Text(),
  export_id: Text(),
  trigger: Enum([...runTriggers]),
  status: Enum([...warehouseRunStatuses]),
  window_start: Type.String({ format: "date-time", description: "of the dataset that begins first" }),
  window_end: DateTime,
  datasets: List(
    Type.Object({
      dataset: Enum([...warehouseDatasets]),
      status: Enum([...warehouseRunStatuses]),
      row_count: Count,
      file_count: Count,
      bytes: Count,
      error: Nullable(Text()),
    }),
  ),
  row_count: Count,
  file_count: Count,
  bytes: Count,
  manifest_key: Nullable(Text()),
  attempt: Type.Integer({ minimum: 0, description: "how often it was tried again, at most 5" }),
  error: Nullable(Type.Object({ code: Enum([...runErrorCodes]), message: Text() })),
  next_retry_at: Nullable(DateTime),
  started_at: Nullable(DateTime),
  completed_at: Nullable(DateTime),
  created_at: DateTime,
});
export type WarehouseRun = Static<typeof WarehouseRun>;

export const WarehouseRunPage = PageOf(WarehouseRun);
export const warehouseRunPaging = pagingOf({ most: 100, sort: "-created_at" });

/** Query of `GET …/runs`. */
export const WarehouseRunListQuery = Type.Object({
  ...warehouseRunPaging.pageQuery,
  status: Optional(Enum([...warehouseRunStatuses])),
  trigger: Optional(Enum([...runTriggers])),
  from: Optional(DateTime),
  to: Optional(DateTime),
});
export type WarehouseRunListQuery = Static<typeof WarehouseRunListQuery>;

named({
  WarehouseExport,
  WarehouseExportMade,
  WarehouseExportPage,
  CreateWarehouseExport,
  UpdateWarehouseExport,
  PauseWarehouseExport,
  ResumeWarehouseExport,
  TestWarehouseExport,
  WarehouseTestResult,
  BackfillWarehouseExport,
  WarehouseRun,
  WarehouseRunPage,
});
