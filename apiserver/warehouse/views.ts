import { nextRunAt } from "#core/domain/warehouse/schedule.ts";
import { filesAt, setupSql } from "#core/domain/warehouse/setup-sql.ts";
import { showAs } from "#core/schema/json/show.ts";
import { warehouseSecrets } from "#core/schema/warehouse/destination.ts";
import { WarehouseExport, WarehouseRun } from "#core/schema/warehouse/export.ts";
import { compressionOf, type WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { choiceOf, type RunDatasetRow, type WarehouseRunRow } from "#core/storage/warehouse/runs.ts";

/** A warehouse export as the REST interface shows it: no secret, only the names of secrets. */
export const warehouseExportView = (row: WarehouseExportRow, now: Date): WarehouseExport =>
  showAs(WarehouseExport, {
    ...row,
    id: row._id,
    compression: compressionOf(row),
    event_names: row.event_names ?? null,
    include_pii: row.include_pii ?? false,
    destination: {
      ...(row.warehouse === undefined ? row.destination : { ...row.warehouse, staging: row.destination }),
      secret_names: warehouseSecrets.filter((name) => row.secrets[name] !== undefined),
      secrets_updated_at: row.secrets_updated_at.toISOString(),
    },
    setup_sql: setupOf(row),
    watermarks: instants(row.watermarks),
    last_run: row.last_run && { ...row.last_run, completed_at: row.last_run.completed_at.toISOString() },
    next_run_at: row.status === "paused" ? null : nextRunAt(row.schedule, row.scheduled_until, now),
    managed: row.managed !== null,
  });

const setupOf = ({ warehouse, destination, ...row }: WarehouseExportRow): string | null =>
  warehouse === undefined
    ? null
    : setupSql(warehouse, { files: filesAt(destination, warehouse), datasets: row.datasets, ...choiceOf(row) });

/** What of it events of changes tell: nothing that a run moves. */
export const reportedExport = (row: WarehouseExportRow, now: Date): object => {
  const { watermarks: _w, last_run: _l, next_run_at: _n, ...rest } = warehouseExportView(row, now);
  return rest;
};

const instants = (watermarks: WarehouseExportRow["watermarks"]): Record<string, string> =>
  Object.fromEntries(Object.entries(watermarks).map(([dataset, at]) => [dataset, at.toISOString()]));

/** A run as the REST interface shows it. */
export const warehouseRunView = (row: WarehouseRunRow): WarehouseRun => {
  const datasets = row.datasets.map((dataset) => datasetView(row, dataset));
  const kept = datasets.filter((_, n) => row.datasets[n]?.is_left !== true);
  const sum = (member: "row_count" | "file_count" | "bytes"): number =>
    kept.reduce((all, dataset) => all + dataset[member], 0);
  const [first, last] = [row.datasets.map(({ from }) => from), row.datasets.map(({ to }) => to)];
  return showAs(WarehouseRun, {
    ...row,
    id: row._id,
    window_start: new Date(Math.min(...first.map(Number))),
    window_end: new Date(Math.max(...last.map(Number))),
    datasets,
    row_count: sum("row_count"),
    file_count: sum("file_count"),
    bytes: sum("bytes"),
  });
};

const datasetView = (
  run: WarehouseRunRow,
  { dataset, parts, is_done, is_left, error }: RunDatasetRow,
): WarehouseRun["datasets"][0] => ({
  dataset,
  status: statusOf(run.status, is_done, is_left === true),
  row_count: parts.reduce((sum, { rows }) => sum + rows, 0),
  file_count: parts.length,
  bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
  error: is_done ? null : (error ?? run.error?.message ?? null),
});

const statusOf = (ofRun: WarehouseRun["status"], isDone: boolean, isLeft: boolean): WarehouseRun["status"] => {
  if (isLeft) return "failed";
  return isDone && (ofRun === "running" || ofRun === "partial") ? "completed" : ofRun;
};
