import type { Collection } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import { putAside } from "#core/queue/set-aside.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { type JobProgress, type JobRow, jobWork } from "#core/storage/work/jobs.ts";
import type { Leasable } from "#core/storage/work/leases.ts";
import { type Lease, leaseMs, underLease } from "../work/lease.ts";
import type { JobResult, JobType, Progress } from "./job-type.ts";

export type RunDeps = {
  /** Unique to this process. */
  holder: string;
  /** Aborts when nothing new is to be begun. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics<"dispatcher">, "queue" | "jobs" | "jobItems">;
  /** Another length of the lease, for tests. */
  termMs?: number;
};

/**
 * Runs a job under its lease if it is due and nobody else has it, and writes what the run came to. `stop` aborts when the
 * run is to end.
 * @throws the error of a MongoDB that is away: the job is due again once its lease has run out
 */
export const runJob = async <Row extends JobRow>(
  type: JobType<Row>,
  id: string,
  deps: RunDeps,
  stop: AbortSignal,
): Promise<void> => {
  const { holder, clock, stopping, termMs = leaseMs } = deps;
  const work = jobWork(type.rows);
  const row = await work.take(id, { holder, now: clock.now(), leaseMs: termMs });
  if (row === null) return;
  const count = counter(type, row, deps);
  const extend = (now: Date) => work.extend(row, count.progress(), { now, leaseMs: termMs });
  const lease = { taken: row, extend, stops: [stopping, stop], clock, termMs };
  const run = await underLease(lease, (held) => attempt(type, row, count.under(held)));
  report(type, row, run, { ...deps, ...count });
  await giveBack(type, row, run, { ...deps, progress: count.progress() });
};

/** The run may begin nothing more: its turn is over, the program stops, or its lease is lost. */
class Halted extends Error {}

/** Counts what the run has done, and halts it. */
const counter = <Row extends JobRow>(type: JobType<Row>, row: Row, { clock, metrics }: RunDeps) => {
  const beganMs = performance.now();
  const endsMs = beganMs + (type.turnMs?.(row) ?? Number.POSITIVE_INFINITY);
  let progress: JobProgress = row.progress ?? { done: 0, total: null, at: clock.now() };
  const before = progress.done;
  return {
    progress: () => progress,
    items: () => progress.done - before,
    durationMs: () => Math.round(performance.now() - beganMs),
    under:
      ({ isOver }: Lease): Progress =>
      (items, total) => {
        progress = { done: progress.done + items, total: total ?? progress.total, at: clock.now() };
        metrics.jobItems.inc({ job: type.name }, items);
        if (isOver() || performance.now() >= endsMs) throw new Halted(`${type.name} ${row._id} has been halted`);
      },
  };
};

type Run<Row extends JobRow> =
  | ({ result: "done" | "again" } & JobResult<Row>)
  | { result: "halted" }
  | { result: "failed"; error: unknown };

/** What a run may come to. */
export const jobResults: readonly Run<JobRow>["result"][] = ["done", "again", "halted", "failed"];

const attempt = async <Row extends JobRow>({ run }: JobType<Row>, row: Row, progress: Progress): Promise<Run<Row>> => {
  try {
    const given = await run(row, progress);
    return { result: (given.end?.dueAt ?? null) === null ? "done" : "again", ...given };
  } catch (error) {
    return error instanceof Halted ? { result: "halted" } : { result: "failed", error };
  }
};

type ReportDeps<Row extends JobRow> = RunDeps & ReturnType<typeof counter<Row>>;

/** One line and one count for each run. */
const report = <Row extends JobRow>(
  { name }: JobType<Row>,
  { _id, tenant_id, app_id }: Row,
  run: Run<Row>,
  { log, metrics, ...count }: ReportDeps<Row>,
): void => {
  metrics.jobs.inc({ job: name, result: run.result });
  const { done, total } = count.progress();
  log[run.result === "failed" ? "warn" : "info"](
    {
      job: name,
      document: _id,
      tenant: tenant_id,
      app: app_id,
      result: run.result,
      ...("facts" in run && run.facts),
      ...("error" in run && { err: run.error }),
      items: count.items(),
      done,
      total,
      durationMs: count.durationMs(),
    },
    "job.ran",
  );
};

/** A run that failed although the stores answer has its document set aside, unless another process has it by now. */
const giveBack = async <Row extends JobRow>(
  { rows, name }: JobType<Row>,
  row: Row,
  run: Run<Row>,
  { clock, log, metrics, progress }: RunDeps & { progress: JobProgress },
): Promise<void> => {
  const work = jobWork(rows);
  switch (run.result) {
    case "done":
    case "again":
      if (run.end !== null) await work.settle(row, progress, run.end);
      return;
    case "halted":
      await work.rest(row, progress, clock.now());
      return;
    case "failed": {
      const isOurs = await work.rest(row, progress, sweepAfter(clock.now()));
      const faults = isOurs && !isPassing(run.error) ? [{ row, error: run.error }] : [];
      const jobs = rows as unknown as Collection<Leasable>; // the driver's types cannot see that Row has its members
      await putAside(jobs, faults, name, { clock, log, setAside: countAside(metrics.queue, name) });
    }
  }
};
