import type { Clock } from "#core/domain/clock.ts";
import { closeAfterMs } from "#core/domain/warehouse/schedule.ts";
import { AppError, invalid } from "#core/errors.ts";
import type { BackfillWarehouseExport, WarehouseDataset } from "#core/schema/warehouse/export.ts";
import type { WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import type { WarehouseRunRow, WarehouseRuns } from "#core/storage/warehouse/runs.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { requireKept } from "./members.ts";

export type RunDeps = { runs: WarehouseRuns; limit: NarrowLimit; clock: Clock };

/** A range without an end, or one that could never be. @throws ValidationError */
export const checkBackfill = ({ from, to }: BackfillWarehouseExport): void => {
  if ((from === undefined) !== (to === undefined))
    throw invalid(from === undefined ? "from" : "to", "is required with the other one");
  if (from !== undefined && to !== undefined && new Date(from) >= new Date(to))
    throw invalid("to", "must be after from");
};

/**
 * Begins a run now: of what changed since the last one, or of a range, which has a chain of manifests of its own.
 * @throws AppError HS_JOB_IN_PROGRESS while the export has a run that has not ended
 */
export const beginRun =
  ({ runs, limit, clock }: RunDeps) =>
  async (
    caller: Caller,
    found: WarehouseExportRow,
    id: string,
    body: BackfillWarehouseExport,
  ): Promise<WarehouseRunRow> => {
    checkBackfill(body);
    const datasets = body.datasets ?? found.datasets;
    refuseOthers(datasets, found);
    const closed = new Date(clock.now().getTime() - closeAfterMs);
    const windows = windowsOf(found, datasets, body, closed);
    if (body.from !== undefined) requireRange(body, { closed, now: clock.now(), keptDays: caller.plan.retention_days });
    await limit("warehouse.backfill", found._id);
    const trigger = body.from === undefined ? "manual" : "backfill";
    const row = newRun(found, { id, trigger, windows, now: clock.now() });
    if (await runs.insert(row)) return row;
    throw await inProgress(runs, found._id);
  };

/** A run of the export has not ended. */
export const inProgress = async (runs: Pick<WarehouseRuns, "open">, exportId: string): Promise<AppError> =>
  new AppError("HS_JOB_IN_PROGRESS", "the export has a run that has not ended", {
    run_id: (await runs.open(exportId))?._id ?? null,
  });

const refuseOthers = (datasets: readonly WarehouseDataset[], { datasets: own }: WarehouseExportRow): void => {
  const other = datasets.findIndex((dataset) => !own.includes(dataset));
  if (other >= 0) throw invalid(`datasets[${other}]`, "is not exported by this export");
};

/** Nothing to do is an answer, too. */
const windowsOf = (
  found: WarehouseExportRow,
  datasets: readonly WarehouseDataset[],
  { from, to }: BackfillWarehouseExport,
  closed: Date,
): { dataset: WarehouseDataset; from: Date; to: Date }[] => {
  if (from !== undefined && to !== undefined)
    return datasets.map((dataset) => ({ dataset, from: new Date(from), to: new Date(to) }));
  const since = datasets.map((dataset) => ({ dataset, from: found.watermarks[dataset] ?? closed, to: closed }));
  const open = since.filter(({ from: begin }) => begin < closed);
  if (open.length === 0)
    throw new AppError("HS_CONFLICT", "everything that changed more than 15 minutes ago is exported already", {
      status: "up_to_date",
    });
  return open;
};

type Bounds = { closed: Date; now: Date; keptDays: number };

const requireRange = ({ from = "", to = "" }: BackfillWarehouseExport, { closed, ...kept }: Bounds): void => {
  requireKept("from", new Date(from), kept);
  if (new Date(to) > closed) throw invalid("to", "must be 15 minutes ago at least: what changes is read after that");
};
