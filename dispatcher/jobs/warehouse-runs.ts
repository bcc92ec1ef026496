import { isDeepStrictEqual } from "node:util";
import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { afterAttempt, afterFailure } from "#core/domain/warehouse/failures.ts";
import { manifestKey } from "#core/domain/warehouse/keys.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import { KeyRingError } from "#core/runtime/process/key-ring.ts";
import type { WarehouseRunStatus } from "#core/schema/warehouse/export.ts";
import { collectionOf, ofRow } from "#core/storage/mongo/collection.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import { type ChainRow, compressionOf, type WarehouseExportRow } from "#core/storage/warehouse/exports.ts";
import { type HashKeys, hashUnder } from "#core/storage/warehouse/hash-keys.ts";
import {
  type RunDatasetRow,
  type RunSettings,
  type WarehouseRunRow,
  warehouseRunCollection,
} from "#core/storage/warehouse/runs.ts";
import { type WarehouseWork, warehouseWork } from "#core/storage/warehouse/work.ts";
import { type Destination, DestinationError } from "../warehouse/destinations/destination.ts";
import type { OpenDestination } from "../warehouse/destinations/open.ts";
import { isWritten, manifestOf } from "../warehouse/manifest.ts";
import { LostRun, type PartsDeps, putOnce, sha256, writeParts } from "../warehouse/parts.ts";
import type { Job, JobResult, Progress } from "./job.ts";
import { job } from "./run.ts";

export type WarehouseRunJobDeps = {
  db: Db;
  openDestination: OpenDestination;
  hashKeyOf: HashKeys;
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
        if (error instanceof DestinationError) return afterFault(deps, found, row, error);
        if (error instanceof KeyRingError && hasMoved(found, row.settings))
          return afterFault(deps, found, row, keyGone());
        throw error;
      }
    },
  });
};

type Work = { found: WarehouseExportRow; row: WarehouseRunRow };

const write = async (deps: Deps, { found, row }: Work, progress: Progress): Promise<Result> => {
  const { work, clock, openDestination } = deps;
  const settings = settingsNow(found, row);
  if (!(await work.begin(row, settings, clock.now()))) throw new LostRun(row._id);
  const hash = hashUnder(await deps.hashKeyOf(ofRow(row)));
  const destination = await openDestination(found._id, settings.destination, settings.secrets ?? {});
  try {
    const parts = { ...deps, hash, destination, progress, signal: deps.stopping, onBytes: counted(deps, row) };
    const datasets = await writeDatasets(parts, row, settings);
    return await finish(deps, { found, row: { ...row, datasets } }, settings, destination);
  } finally {
    destination.close();
  }
};

/**
 * Writes one dataset after another. One that cannot be written does not keep the others from it, unless the store takes nothing.
 * @throws DestinationError when one was not written; LostRun, and what `progress` throws
 */
const writeDatasets = async (
  parts: PartsDeps & Pick<Deps, "work">,
  run: WarehouseRunRow,
  settings: RunSettings,
): Promise<RunDatasetRow[]> => {
  const datasets = [...run.datasets];
  let first: DestinationError | null = null;
  for (const [index, dataset] of run.datasets.entries()) {
    if (!isWritten(dataset)) continue;
    try {
      datasets[index] = { ...dataset, parts: await writeParts(parts, { run, settings, index }) };
    } catch (error) {
      if (!(error instanceof DestinationError) || parts.signal.aborted) throw error;
      if (!(await parts.work.recordError(run, index, error.message))) throw new LostRun(run._id);
      first ??= error;
      if (error.code !== "INTERNAL" && error.code !== "QUOTA") break;
    }
  }
  if (first !== null) throw first;
  return datasets;
};

/**
 * As they were when the run was begun. Secrets go with the address that they were given for: newer ones are taken while the export
 * still writes there. Source: docs/decisions/0198.
 */
const settingsNow = (found: WarehouseExportRow, { settings }: WarehouseRunRow): RunSettings => {
  const begun = settings ?? settingsOf(found);
  return hasMoved(found, settings) ? begun : { ...begun, secrets: found.secrets };
};

/** Whether an export writes elsewhere by now than a run that was begun before. */
const hasMoved = ({ destination }: WarehouseExportRow, settings: RunSettings | null): boolean =>
  settings !== null && !isDeepStrictEqual(settings.destination, destination);

/** Only an export's own secrets are sealed anew when the key ring changes. */
const keyGone = (): DestinationError =>
  new DestinationError("AUTH", "the key that sealed the secrets of its beginning is gone");

const settingsOf = (found: WarehouseExportRow): RunSettings => ({
  destination: found.destination,
  format: found.format,
  compression: compressionOf(found),
  excluded_columns: found.excluded_columns,
  event_names: found.event_names ?? null,
  include_pii: found.include_pii ?? false,
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
    const watermarks = Object.fromEntries(row.datasets.filter(isWritten).map(({ dataset, to }) => [dataset, to]));
    if (!(await deps.work.commit({ _id: found._id, sequence: previous.sequence }, { chain, watermarks })))
      throw new LostRun(row._id);
  }
  return complete(deps, found, row, key);
};

const emptyChain: ChainRow = { sequence: 0, run_id: null, key: null, sha256: null };

/** What was left out counts as a failure: it was noted when that was decided. */
const complete = async (
  deps: Deps,
  found: WarehouseExportRow,
  row: WarehouseRunRow,
  key = found.chain.key,
): Promise<Result> => {
  const isWhole = row.datasets.every(isWritten);
  const status = isWhole ? "completed" : "partial";
  const standing = isWhole ? { failure_count: 0, failing_since: null } : {};
  await deps.work.note(found._id, { ...standing, last_run: lastRun(deps, row, status) });
  if (isWhole && found.status === "failing") await deps.work.recover(found._id);
  return ended(deps, row, status, { manifest_key: key, ...(isWhole && { error: null }) });
};

const lastRun = (
  { clock }: Deps,
  row: WarehouseRunRow,
  status: WarehouseRunStatus,
): WarehouseExportRow["last_run"] => ({
  id: row._id,
  status,
  row_count: row.datasets
    .filter(isWritten)
    .reduce((sum, { parts }) => sum + parts.reduce((rows, part) => rows + part.rows, 0), 0),
  completed_at: clock.now(),
});

const ended = async (
  { work, clock, metrics }: Deps,
  row: WarehouseRunRow,
  status: "completed" | "partial" | "cancelled" | "failed",
  more: Partial<Pick<WarehouseRunRow, "manifest_key" | "error">> = {},
): Promise<Result> => {
  const set = { ...more, status, completed_at: clock.now(), next_retry_at: null };
  await work.end(row, set);
  metrics.warehouseAttempts.inc({ result: status });
  return { end: null, facts: { status } };
};

/** What becomes of a run after an attempt that did not get through: docs/reference/warehouse.md#failures. */
const afterFault = async (
  deps: Deps,
  found: WarehouseExportRow,
  taken: WarehouseRunRow,
  { code, message }: DestinationError,
): Promise<Result> => {
  const { work, clock, metrics } = deps;
  const row = await work.ours(taken); // with what was written before it failed
  if (row === null) return { end: null, facts: { isLost: true } };
  const next = afterAttempt(row.attempt, row.datasets, hasMoved(found, row.settings));
  const error = { code, message };
  if (next.isLast) await noteFailure(deps, found, error);
  if (next.kind === "giveUp") {
    await work.note(found._id, { last_run: lastRun(deps, row, "failed") });
    return ended(deps, row, "failed", { error });
  }
  metrics.warehouseAttempts.inc({ result: "retried" });
  if (next.kind === "leave") {
    if (!(await work.leave(row, next.left))) return { end: null, facts: { isLost: true } };
    return { end: { dueAt: clock.now(), set: { error } }, facts: { error: code, left: next.left.length } };
  }
  const retryAt = new Date(clock.now().getTime() + next.delayMs);
  const set = { status: "pending", error, attempt: next.attempt, next_retry_at: retryAt } as const;
  return { end: { dueAt: retryAt, set }, facts: { error: code } };
};

/** The export has failed once more; its owner is mailed when that changes its state. */
const noteFailure = async (
  { work, clock }: Deps,
  found: WarehouseExportRow,
  { code, message }: NonNullable<WarehouseRunRow["error"]>,
): Promise<void> => {
  if (found.status === "paused") return;
  const standing = afterFailure(found, code, clock.now());
  const kind = standing.status;
  const isNews = kind !== "active" && kind !== found.status;
  const notice = isNews ? { notice: { kind, since: standing.failing_since, error: message } } : {};
  await work.note(found._id, { ...standing, ...notice });
};
