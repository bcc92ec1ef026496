import { isTimeZone } from "#core/domain/time-zone.ts";
import { columnNames } from "#core/domain/warehouse/columns.ts";
import { neverRuns } from "#core/domain/warehouse/schedule.ts";
import { type FieldError, invalid, refuse } from "#core/errors.ts";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import type { KeyRing } from "#core/runtime/process/key-ring.ts";
import { type ChangedWarehouseDestination, warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import {
  type UpdateWarehouseExport,
  type WarehouseDataset,
  type WarehouseSchedule,
  type WarehouseScheduleInput,
} from "#core/schema/warehouse/export.ts";
import type { DestinationRow, SealedSecrets, WarehouseExportRow } from "#core/storage/warehouse/exports.ts";

/** Refuses what a schema cannot. @throws ValidationError */
export const checkMembers = (
  guard: Pick<AddressGuard, "problemOf">,
  body: Pick<UpdateWarehouseExport, "destination" | "schedule" | "excluded_columns" | "format" | "compression">,
  datasets: readonly WarehouseDataset[],
): void =>
  refuse([
    ...compressionErrors(body),
    ...destinationErrors(guard, body.destination),
    ...scheduleErrors(body.schedule),
    ...(body.excluded_columns ?? []).flatMap((name, n) => excludedErrors(name, n, datasets)),
  ]);

const compressionErrors = ({ format = "jsonl", compression }: Pick<UpdateWarehouseExport, "format" | "compression">) =>
  compression === undefined || format === "parquet"
    ? []
    : [{ field: "compression", message: "is only of the format parquet: the others are gzip" }];

const destinationErrors = (
  { problemOf }: Pick<AddressGuard, "problemOf">,
  destination: ChangedWarehouseDestination | undefined,
): FieldError[] => {
  if (destination === undefined) return [];
  const { endpoint = null, sse = "none", kms_key_id: key = null } = destination;
  const url = endpoint === null ? null : new URL(endpoint);
  const problem = url && (problemOf(url) ?? pathProblem(url));
  return [
    ...(problem === null ? [] : [{ field: "destination.endpoint", message: problem }]),
    ...(key !== null && sse !== "aws:kms" ? [{ field: "destination.kms_key_id", message: "needs sse aws:kms" }] : []),
  ];
};

const pathProblem = ({ pathname, search, hash }: URL): string | null =>
  pathname === "/" && search === "" && hash === "" ? null : "must be a server alone, without a path or a query";

const scheduleErrors = (schedule: WarehouseScheduleInput | undefined): FieldError[] => {
  if (schedule === undefined) return [];
  const { timezone = "UTC" } = schedule;
  if (!isTimeZone(timezone))
    return [{ field: "schedule.timezone", message: "must be a name of the IANA time zone database" }];
  return neverRuns(scheduleOf(schedule))
    ? [{ field: "schedule.exclude_window", message: "leaves no time for a run" }]
    : [];
};

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

/** A destination with all of its members, without secrets. */
export const destinationOf = (given: ChangedWarehouseDestination): DestinationRow => {
  const { endpoint = null } = given;
  return {
    type: given.type,
    bucket: given.bucket,
    region: given.region ?? "us-east-1",
    prefix: given.prefix ?? "",
    endpoint: endpoint === null ? null : new URL(endpoint).origin,
    path_style: given.path_style ?? endpoint !== null,
    sse: given.sse ?? "none",
    kms_key_id: given.kms_key_id ?? null,
  };
};

/** The secrets that a body has, sealed. */
export const sealedOf = (
  { seal }: Pick<KeyRing, "seal">,
  given: ChangedWarehouseDestination,
  placeOf: (name: string) => string,
): Partial<SealedSecrets> =>
  Object.fromEntries(
    warehouseSecrets.flatMap((name) => {
      const value = given[name];
      return value === undefined ? [] : [[name, seal(value, placeOf(name))]];
    }),
  );

/** Where datasets begin that an export did not have before. Those that it has are moved by its runs alone. */
export const newWatermarks = (
  { watermarks }: Pick<WarehouseExportRow, "watermarks">,
  datasets: readonly WarehouseDataset[],
  now: Date,
): Record<string, Date> =>
  Object.fromEntries(
    datasets.flatMap((dataset) => (watermarks[dataset] === undefined ? [[`watermarks.${dataset}`, now]] : [])),
  );

/** @throws ValidationError for an instant that is to come, or before what the app keeps */
export const requireKept = (field: string, at: Date, { now, keptDays }: { now: Date; keptDays: number }): void => {
  if (at > now) throw invalid(field, "must not be in the future");
  const first = new Date(now.getTime() - keptDays * dayMs);
  if (at < first) throw invalid(field, `must not be before ${first.toISOString()}: the plan keeps ${keptDays} days`);
};

const dayMs = 86_400_000;
