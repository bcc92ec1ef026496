import type { Collection } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { AnyTimerSource } from "#core/queue/timers.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { JobEnd, JobRow } from "#core/storage/work/jobs.ts";

/** A type of long work, whose documents are due at an instant: docs/decisions/0046. */
export type JobType<Row extends JobRow> = {
  /** In hints, metrics and logs: the name of its collection. */
  name: string;
  rows: Collection<Row>;
  /**
   * Works through a document in pages. It may be killed anywhere and is run again then. What throws although the stores
   * answer has the document set aside.
   */
  run: (row: Row, progress: Progress) => Promise<JobResult<Row>>;
  /** How long a run lasts before it gives way to other jobs, ms: for work that goes on where it was. Endless when left out. */
  turnMs?: (row: Row) => number;
  /** How often it is looked at what is due, ms; 1,000 when left out: a job that is due at once begins so much later at most. */
  everyMs?: number;
  /** Its runs take seconds and mostly wait: they have many places of their own, so that no long job delays them. */
  isShort?: true;
  /** It has as many places for itself as all other long types together: none of them delays it. */
  isApart?: true;
  /** What has to run beside it. */
  parts?: readonly Part[];
};

/**
 * Called between two pages with how many items the last one had, and how many there are in all when that is known.
 * @throws Halted when no further page is to be begun: the run must let it pass
 */
export type Progress = (items: number, total?: number) => void;

/** What a run came to. */
export type JobResult<Row extends JobRow> = {
  /** Null when the run has removed the document, or has given it back with another write. */
  end: JobEnd<Row> | null;
  /** What the line of the run in the log says beside what it says of every run. */
  facts?: Record<string, unknown>;
  /** Called once `end` is written; not when another process has the job by then. */
  after?: () => void;
};

/** A type of job whose kind of row no longer matters. */
export type Job = {
  name: string;
  isShort: boolean;
  isApart: boolean;
  parts: readonly Part[];
  /** Has the hint of each document published that is due. */
  timer: (publishHint: (id: string, tenantId: string) => Promise<unknown>) => AnyTimerSource;
  /**
   * Runs a job under its lease if it is due and nobody else has it, and writes what the run came to. `stop` aborts when
   * the run is to end.
   * @throws the error of a MongoDB that is away: the job is due again once its lease has run out
   */
  run: (id: string, deps: RunDeps, stop: AbortSignal) => Promise<void>;
};

export type RunDeps = {
  /** Unique to this process. */
  holder: string;
  /** Aborts when nothing new is to be begun. */
  stopping: AbortSignal;
  clock: Clock;
  log: Log;
  metrics: Pick<Metrics<"dispatcher">, "queue" | "jobs" | "jobItems" | "jobSeconds">;
  timing: Pick<Timing, "leaseMs">;
};
