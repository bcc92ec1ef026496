import { isTimeZone } from "../../domain/time-zone.ts";
import { columnNames } from "../../domain/warehouse/columns.ts";
import { neverRuns } from "../../domain/warehouse/schedule.ts";
import type { FieldError } from "../../errors.ts";
import type {
  UpdateWarehouseExport,
  WarehouseDataset,
  WarehouseSchedule,
  WarehouseScheduleInput,
} from "../../schema/warehouse/export.ts";
import { type DestinationSettings, destinationErrors, targetOf } from "./destinations.ts";
import type { WarehouseExportRow } from "./exports.ts";

/** What of an export is checked by rules that no schema has. */
export type Settings = Pick<
  UpdateWarehouseExport,
  "schedule" | "event_names" | "excluded_columns" | "format" | "compression"
> & {
  destination?: DestinationSettings | undefined;
};

/** What is wrong with the settings of an export. `problemOf` judges an address by itself. */
export const settingErrors = (
  problemOf: (url: URL) => string | null,
  settings: Settings,
  datasets: readonly WarehouseDataset[],
): FieldError[] => [
  ...compressionErrors(settings),
  ...formatErrors(settings),
  ...(settings.destination === undefined ? [] : destinationErrors(problemOf, settings.destination)),
  ...scheduleErrors(settings.schedule),
  ...nameErrors(settings, datasets),
  ...(settings.excluded_columns ?? []).flatMap((name, n) => excludedErrors(name, n, datasets)),
];

const compressionErrors = ({ format = "jsonl", compression }: Settings): FieldError[] =>
  compression === undefined || format === "parquet"
    ? []
    : [{ field: "compression", message: "is only of the format parquet: the others are gzip" }];

const formatErrors = ({ format, destination }: Settings): FieldError[] =>
  format === undefined || format === "parquet" || destination === undefined || targetOf(destination) === null
    ? []
    : [{ field: "format", message: `must be parquet: ${destination.type} reads that` }];

const scheduleErrors = (schedule: WarehouseScheduleInput | undefined): FieldError[] => {
  if (schedule === undefined) return [];
  const { timezone = "UTC" } = schedule;
  if (!isTimeZone(timezone))
    return [{ field: "schedule.timezone", message: "must be a name of the IANA time zone database" }];
  return neverRuns(scheduleOf(schedule))
    ? [{ field: "schedule.exclude_window", message: "leaves no time for a run" }]
    : [];
};

const nameErrors = ({ event_names: names }: Settings, datasets: readonly WarehouseDataset[]): FieldError[] =>
  names == null || datasets.includes("events")
    ? []
    : [{ field: "event_names", message: "narrows the dataset events, which is not exported" }];

const excludedErrors = (name: string, n: number, datasets: readonly WarehouseDataset[]): FieldError[] => {
  const known = datasets.flatMap((dataset) => columnNames(dataset).map((column) => `${dataset}.${column}`));
  if (known.includes(name)) return [];
  const message = `is no column that can be left out; those are ${known.join(", ")}`;
  return [{ field: `excluded_columns[${n}]`, message }];
};

/** A schedule with all of its members. */
export const scheduleOf = (given: WarehouseScheduleInput | undefined): WarehouseSchedule => ({
  frequency: given?.frequency ?? "24h",
  start_at: given?.start_at ?? "00:00",
  timezone: given?.timezone ?? "UTC",
  exclude_window: given?.exclude_window ?? null,
});

/** Where datasets begin that an export did not have before. Those that it has are moved by its runs alone. */
export const newWatermarks = (
  { watermarks }: Pick<WarehouseExportRow, "watermarks">,
  datasets: readonly WarehouseDataset[],
  now: Date,
): Record<string, Date> =>
  Object.fromEntries(
    datasets.flatMap((dataset) => (watermarks[dataset] === undefined ? [[`watermarks.${dataset}`, now]] : [])),
  );

/** What an export has before its first run; `since`: from where on it exports. */
export const beginningOf = (datasets: readonly WarehouseDataset[], since: Date, now: Date) =>
  ({
    status: "active",
    pause_reason: null,
    failure_count: 0,
    failing_since: null,
    watermarks: Object.fromEntries(datasets.map((dataset) => [dataset, since])),
    chain: { sequence: 0, run_id: null, key: null, sha256: null },
    scheduled_until: since,
    last_run: null,
    due_at: now,
    lease: null,
    fence: 0,
  }) satisfies Partial<WarehouseExportRow>;
