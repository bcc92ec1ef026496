import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { closeAfterMs, dueWindowEnd, nextRunAt } from "#core/domain/warehouse/schedule.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Directory } from "#core/storage/directory.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { type WarehouseExportRow, warehouseExportCollection } from "#core/storage/warehouse/exports.ts";
import { newRun } from "#core/storage/warehouse/new-run.ts";
import { type WarehouseRuns, warehouseRuns } from "#core/storage/warehouse/runs.ts";
import { type WarehouseWork, warehouseWork } from "#core/storage/warehouse/work.ts";
import type { WarehouseMails } from "../warehouse/owner-mails.ts";
import type { Job, JobResult } from "./job.ts";
import { job } from "./run.ts";

export type WarehouseExportJobDeps = {
  db: Db;
  directory: Pick<Directory, "tenant" | "plan">;
  clock: Clock;
  /** What answers requests for tests of destinations. */
  warehouseTests: Part;
  /** Mails the contact of a tenant. */
  warehouseMails: Pick<WarehouseMails, "mail">;
};

type Deps = WarehouseExportJobDeps & { work: WarehouseWork; runs: WarehouseRuns };
type Result = JobResult<WarehouseExportRow>;

/** Schedules of warehouse exports: begins the run of each window that has closed. docs/decisions/0126. */
export const warehouseExportJob = (given: WarehouseExportJobDeps): Job => {
  const deps = { ...given, work: warehouseWork(given.db), runs: warehouseRuns(given.db) };
  return job<WarehouseExportRow>({
    name: warehouseExportCollection.name,
    rows: collectionOf<WarehouseExportRow>(given.db, warehouseExportCollection),
    isShort: true,
    parts: [given.warehouseTests],
    run: async (row) => {
      await mail(deps, row);
      return look(deps, row);
    },
  });
};

/** A mail that was not taken is tried again when its export is looked at next, a quarter of an hour later at most. */
const mail = async ({ warehouseMails, work }: Deps, row: WarehouseExportRow): Promise<void> => {
  if (row.notice !== undefined && (await warehouseMails.mail(row)) === "done") await work.noteMailed(row);
};

const look = async (deps: Deps, row: WarehouseExportRow): Promise<Result> => {
  const { clock, work } = deps;
  if (row.status === "paused") return later(clock, lookMs);
  if (!(await isInPlan(deps, row))) {
    await work.pause(row._id, "plan");
    return later(clock, lookMs);
  }
  const now = clock.now();
  const to = dueWindowEnd(row.schedule, row.scheduled_until, now);
  if (to === null) return next(deps, row, row.scheduled_until);
  const windows = row.datasets
    .map((dataset) => ({ dataset, from: row.watermarks[dataset] ?? now, to }))
    .filter(({ from }) => from < to);
  if (windows.length === 0) return next(deps, row, to);
  const run = newRun(row, { id: newId("warehouseRun", now), trigger: "schedule", windows, now });
  if (!(await deps.runs.insert(run))) return later(clock, busyMs);
  return { ...next(deps, row, to), facts: { run: run._id } };
};

const isInPlan = async ({ directory }: Deps, { tenant_id: tenantId }: WarehouseExportRow): Promise<boolean> => {
  const tenant = await directory.tenant(tenantId);
  const plan = tenant === null ? null : await directory.plan(tenant.plan);
  return plan?.features.includes("warehouse_export") ?? false;
};

/** How soon one is looked at that waits for its run to end. */
const busyMs = 30_000;
/** How rarely one is looked at that waits for its owner, or for long: who changes it has it looked at at once. */
const lookMs = closeAfterMs;

const later = ({ now }: Clock, ms: number): Result => ({ end: { dueAt: new Date(now().getTime() + ms) } });

const next = ({ clock }: Deps, { schedule }: WarehouseExportRow, since: Date): Result => {
  const now = clock.now();
  const nextMs = Math.min(nextRunAt(schedule, since, now).getTime(), now.getTime() + lookMs);
  return { end: { dueAt: new Date(nextMs), set: { scheduled_until: since } } };
};
