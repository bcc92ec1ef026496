import { type AnyTimerSource, timerSource } from "#core/queue/timers.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { JobRow } from "#core/storage/work/jobs.ts";
import type { JobType } from "./job-type.ts";
import { type RunDeps, runJob } from "./run.ts";

/** A type of job whose kind of row no longer matters. */
export type Job = {
  name: string;
  parts: readonly Part[];
  /** Has the hint of each document published that is due. */
  timer: (publishHint: (id: string) => Promise<unknown>) => AnyTimerSource;
  /** See {@link runJob}. */
  run: (id: string, deps: RunDeps, stop: AbortSignal) => Promise<void>;
};

/** Readies a type of job for {@link jobParts}. */
export const job = <Row extends JobRow>(type: JobType<Row>): Job => ({
  name: type.name,
  parts: type.parts ?? [],
  timer: (publishHint) =>
    timerSource<Row>({
      name: type.name,
      collection: type.rows,
      select: [],
      handle: ({ _id }) => publishHint(_id),
      leavesAside: true,
    }),
  run: (id, deps, stop) => runJob(type, id, deps, stop),
});
