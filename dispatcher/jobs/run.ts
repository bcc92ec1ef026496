import type { Collection } from "mongodb";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import { putAside } from "#core/queue/set-aside.ts";
import { timerSource } from "#core/queue/timers.ts";
import { countAside } from "#core/runtime/metrics/queue.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { type JobProgress, type JobRow, jobWork } from "#core/storage/work/jobs.ts";
import type { Leasable } from "#core/storage/work/leases.ts";
import { underLease } from "../work/lease.ts";
import type { Job, JobResult, JobType, Progress, RunDeps } from "./job.ts";

/** Readies a type of job for {@link jobParts}. */
export const job = <Row extends JobRow>(type: JobType<Row>): Job => ({
  name: type.name,
  isShort: type.isShort ?? false,
  isApart: type.isApart ?? false,
  parts: type.parts ?? [],
  timer: (publishHint) =>
    timerSource({
      name: type.name,
      collection: type.rows,
      select: ["tenant_id"],
      handle: ({ _id, tenant_id }) => publishHint(_id, tenant_id),
      leavesAside: true,
      everyMs: type.everyMs ?? usualMs,
    }),
  run: async (id, deps, stop) => {
    const { holder, clock, timing } = deps;
    const row = await jobWork(type.rows).take(id, { holder, now: clock.now(), leaseMs: timing.leaseMs });
    if (row !== null) await runTaken(type, row, { ...deps, stop });
  },
});

const usualMs = 1_000;

type TakenDeps = RunDeps & { stop: AbortSignal };

const runTaken = async <Row extends JobRow>(type: JobType<Row>, row: Row, deps: TakenDeps): Promise<void> => {
  const { clock, stopping, stop, timing, metrics } = deps;
  const work = jobWork(type.rows);
  const beganMs = performance.now();
  const endsMs = beganMs + (type.turnMs?.(row) ?? Number.POSITIVE_INFINITY);
  let progress: JobProgress = row.progress ?? { done: 0, total: null, at: clock.now() };
  const termMs = timing.leaseMs;
  const extend = (now: Date) => work.extend(row, progress, { now, leaseMs: termMs });
  const run = await underLease({ taken: row, extend, stops: [stopping, stop], clock, termMs }, ({ isOver }) =>
    attempt(type, row, (items, total) => {
      progress = { done: progress.done + items, total: total ?? progress.total, at: clock.now() };
      metrics.jobItems.inc({ type: type.name }, items);
      if (isOver() || performance.now() >= endsMs) throw new Halted(`${type.name} ${row._id} was halted`);
    }),
  );
  report(type, row, run, { ...deps, progress, durationMs: Math.round(performance.now() - beganMs) });
  await giveBack(type, row, run, { ...deps, progress });
};

/** The run may begin nothing more: its turn is over, the program stops, or its lease is lost. */
export class Halted extends Error {}

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

type ReportDeps = RunDeps & { progress: JobProgress; durationMs: number };

/** One line and one count for each run. */
const report = <Row extends JobRow>(
  { name: type }: JobType<Row>,
  { _id: document, tenant_id: tenant, app_id: app, progress: before }: Row,
  run: Run<Row>,
  { log, metrics, progress: { done, total }, durationMs }: ReportDeps,
): void => {
  const { result } = run;
  metrics.jobs.inc({ type, result });
  metrics.jobSeconds.observe({ type }, durationMs / 1_000);
  const items = done - (before?.done ?? 0);
  const facts = { job: type, document, tenant, app, result, items, done, total, durationMs };
  if (run.result === "failed") log.warn({ ...facts, err: run.error }, "job.ran");
  else log.info({ ...("facts" in run && run.facts), ...facts }, "job.ran");
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
      if (run.end !== null && (await work.settle(row, progress, run.end))) run.after?.();
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
