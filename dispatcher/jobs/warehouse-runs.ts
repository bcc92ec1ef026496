import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { afterFailure, retryDelaysMs } from "#core/domain/warehouse/failures.ts";
import { manifestKey } from "#core/domain/warehouse/keys.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { WarehouseRunStatus } from "#core/schema/warehouse/export.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import { type ChainRow, compressionOf, type WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { type RunSettings, type WarehouseRunRow, warehouseRunCollection } from "#core/storage/warehouse/runs.ts";
import { type WarehouseWork, warehouseWork } from "#core/storage/warehouse/work.ts";
import { type Destination, DestinationError } from "../warehouse/destinations/destination.ts";
import type { OpenDestination } from "../warehouse/destinations/open.ts";
import { manifestOf } from "../warehouse/manifest.ts";
import { LostRun, putOnce, sha256, writeParts } from "../warehouse/parts.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type WarehouseRunJobDeps = {
  db: Db;
  openDestination: OpenDestination;
  /** Aborts when the program stops. */
  stopping: AbortSignal;
  clock: Clock;
  metrics: Pick<Metrics<"dispatcher">, "jobBytes" | "warehouseAttempts">;
  countUsage: CountUsage;
  /** Another bound of rows in a part, for tests. */
  partRows?: number;
};

type Result = JobResult<WarehouseRunRow>;
type Deps = WarehouseRunJobDeps & { work: WarehouseWork };

const turnMs = 900_000; // many times what a part takes: a turn that ends before a part does gains nothing

/** Runs of warehouse exports: docs/decisions/0126. A run that was cut goes on behind the last part that is recorded. */
export const warehouseRunJob = (given: WarehouseRunJobDeps): Job => {
  const deps = { ...given, work: warehouseWork(given.db) };
  return job<WarehouseRunRow>({
    name: warehouseRunCollection.name,
    rows: collectionOf<WarehouseRunRow>(given.db, warehouseRunCollection),
    turnMs: () => turnMs,
    run: async (row, progress) => {
      const found = await deps.work.find(row.export_id);
      if (row.open !== true) return { end: { dueAt: null } };
      if (found === null) return ended(deps, row, "cancelled");
      if (found.chain.run_id === row._id) return complete(deps, found, row); // it was cut after its last write
      try {
        return await write(deps, { found, row }, progress);
      } catch (error) {
        if (error instanceof LostRun) return { end: null, facts: { isLost: true } };
        if (deps.stopping.aborted) progress(0); // throws: the run was halted
        if (error instanceof DestinationError) return tryLater(deps, found, row, error);
        throw error;
      }
    },
  });
};

type Work = { found: WarehouseExportRow; row: WarehouseRunRow };

const write = async (deps: Deps, { found, row }: Work, progress: Progress): Promise<Result> => {
  const { work, clock, openDestination } = deps;
  const settings = row.settings ?? settingsOf(found);
  if (!(await work.begin(row, settings, clock.now()))) throw new LostRun(row._id);
  const destination = await openDestination(found._id, settings.destination, found.secrets);
  try {
    const datasets = [...row.datasets];
    const parts = { ...deps, destination, progress, signal: deps.stopping, onBytes: counted(deps, row) };
    for (const [index, dataset] of row.datasets.entries())
      datasets[index] = { ...dataset, parts: await writeParts(parts, { run: row, settings, index }) };
    return await finish(deps, { found, row: { ...row, datasets } }, settings, destination);
  } finally {
    destination.close();
  }
};

const settingsOf = (found: WarehouseExportRow): RunSettings => ({
  destination: found.destination,
  format: found.format,
  compression: compressionOf(found),
  excluded_columns: found.excluded_columns,
});

const counted =
  ({ metrics, countUsage }: Deps, { tenant_id: tenantId }: WarehouseRunRow) =>
  (bytes: number): void => {
    metrics.jobBytes.inc({ type: warehouseRunCollection.name }, bytes);
    countUsage(tenantId, { bytes });
  };

/** Writes the manifest, which makes the files count, then moves the chain on: from then on the run is done. */
const finish = async (
  deps: Deps,
  { found, row }: Work,
  settings: RunSettings,
  destination: Destination,
): Promise<Result> => {
  const isOwnChain = row.trigger === "backfill";
  const previous = isOwnChain ? emptyChain : found.chain;
  const body = Buffer.from(`${JSON.stringify(manifestOf(row, settings, previous))}\n`);
  const key = manifestKey(settings.destination.prefix, row._id);
  const file = { key, body, contentType: "application/json" };
  await putOnce({ ...deps, destination, signal: deps.stopping }, row, file);
  if (!isOwnChain) {
    const chain = { sequence: previous.sequence + 1, run_id: row._id, key, sha256: sha256(body) };
    const watermarks = Object.fromEntries(row.datasets.map(({ dataset, to }) => [dataset, to]));
    if (!(await deps.work.commit({ _id: found._id, sequence: previous.sequence }, { chain, watermarks })))
      throw new LostRun(row._id);
  }
  return complete(deps, found, row, key);
};

const emptyChain: ChainRow = { sequence: 0, run_id: null, key: null, sha256: null };

const complete = async (
  deps: Deps,
  found: WarehouseExportRow,
  row: WarehouseRunRow,
  key = found.chain.key,
): Promise<Result> => {
  const standing = { failure_count: 0, failing_since: null };
  await deps.work.note(found._id, { ...standing, last_run: lastRun(deps, row, "completed") });
  if (found.status === "failing") await deps.work.recover(found._id);
  return ended(deps, row, "completed", { manifest_key: key, error: null });
};

const lastRun = (
  { clock }: Deps,
  row: WarehouseRunRow,
  status: WarehouseRunStatus,
): WarehouseExportRow["last_run"] => ({
  id: row._id,
  status,
  row_count: row.datasets.reduce((sum, { parts }) => sum + parts.reduce((rows, part) => rows + part.rows, 0), 0),
  completed_at: clock.now(),
});

const ended = async (
  { work, clock, metrics }: Deps,
  row: WarehouseRunRow,
  status: "completed" | "cancelled" | "failed",
  more: Partial<Pick<WarehouseRunRow, "manifest_key" | "error">> = {},
): Promise<Result> => {
  const set = { ...more, status, completed_at: clock.now(), next_retry_at: null };
  await work.end(row, set);
  metrics.warehouseAttempts.inc({ result: status });
  return { end: null, facts: { status } };
};

/** A store that fails is tried again after ever longer pauses; then the run has failed, and the next one goes on from there. */
const tryLater = async (
  deps: Deps,
  found: WarehouseExportRow,
  row: WarehouseRunRow,
  { code, message }: DestinationError,
): Promise<Result> => {
  const { work, clock, metrics } = deps;
  const error = { code, message };
  const delayMs = retryDelaysMs[row.attempt];
  if (delayMs === undefined) {
    const standing = afterFailure(found, code, clock.now());
    const kind = standing.status;
    const isNews = kind !== "active" && kind !== found.status;
    await work.note(found._id, {
      ...(found.status === "paused" ? {} : standing),
      ...(found.status !== "paused" && isNews && { notice: { kind, since: standing.failing_since, error: message } }),
      last_run: lastRun(deps, row, "failed"),
    });
    return ended(deps, row, "failed", { error });
  }
  const retryAt = new Date(clock.now().getTime() + delayMs);
  metrics.warehouseAttempts.inc({ result: "retried" });
  const set = { status: "pending", error, attempt: row.attempt + 1, next_retry_at: retryAt } as const;
  return { end: { dueAt: retryAt, set }, facts: { error: code } };
};
