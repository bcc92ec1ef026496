import { dayMs } from "#core/domain/durations.ts";
import type { Timing } from "#core/domain/timing.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import type { Publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { jobStream } from "#core/queue/jetstream/topology.ts";
import { type Settlement, worker } from "#core/queue/jetstream/worker.ts";
import type { Subjects } from "#core/queue/subjects.ts";
import type { AnyTimerSource } from "#core/queue/timers.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Tracer } from "#core/runtime/tracing/tracer.ts";
import { jobHint } from "../work/hints.ts";
import { type Turns, tenantTurns } from "../work/turns.ts";
import type { Job, RunDeps } from "./job.ts";
import { jobResults } from "./run.ts";

export type JobPartsDeps = Omit<RunDeps, "metrics"> & {
  metrics: RunDeps["metrics"] & Pick<Metrics<"dispatcher">, "jobBytes" | "warehouseAttempts">;
  jobs: readonly Job[];
  config: { natsPrefix: string; natsReplicas: number; openJobs: number };
  nats: Nats;
  timing: Timing;
  tracer: Tracer;
  publisher: Pick<Publisher, "publish">;
  subjects: Pick<Subjects, "job" | "shortJob">;
};

/**
 * What a dispatcher runs for jobs: a timer for each type publishes the hints of what is due, and one worker for all long
 * types, and one for all short ones, takes the documents (docs/decisions/0046).
 */
export const jobParts = (deps: JobPartsDeps): { parts: Part[]; timers: AnyTimerSource[] } => {
  const { jobs, config, metrics, publisher, subjects } = deps;
  for (const { name } of jobs) {
    metrics.jobItems.inc({ type: name }, 0); // as counterFromZero has it
    metrics.jobBytes.inc({ type: name }, 0);
    metrics.jobSeconds.zero({ type: name });
    for (const result of jobResults) metrics.jobs.inc({ type: name, result }, 0);
  }
  const hint =
    ({ name: type, isShort }: Job) =>
    (id: string, tenant_id: string) =>
      publisher.publish((isShort ? subjects.shortJob : subjects.job)(type, id), { type, id, tenant_id });
  const long = { places: config.openJobs, waiting: config.openJobs * waitingEach };
  const [apart, together] = [tenantTurns(long), tenantTurns(long)];
  const workers = [
    jobWorker(deps, {
      consumer: "jobs",
      concurrency: 2 * (long.places + long.waiting),
      timeoutMs: dayMs,
      turnsOf: ({ isApart }) => (isApart ? apart : together),
    }),
    jobWorker(deps, { consumer: "short-jobs", concurrency: openShortJobs, timeoutMs: 60_000, turnsOf: () => atOnce }),
  ];
  return {
    parts: [...jobs.flatMap(({ parts }) => parts), ...workers],
    timers: jobs.map((one) => one.timer(hint(one))),
  };
};

const atOnce: Turns = (_tenantId, work) => work();
const openShortJobs = 64; // each has a connection or two
const waitingEach = 4; // hints that wait for each place
const mostWaitMs = 10_000; // another process may have a place: the timer publishes the hint again by then

type Places = {
  consumer: "jobs" | "short-jobs";
  /** Hints in hand, those that wait for a place too. */
  concurrency: number;
  /** A run that is not over by then is halted and goes on with the next one, in this or in another process. */
  timeoutMs: number;
  turnsOf: (job: Job) => Turns;
};

/** Each hint is acknowledged, whatever became of the run: the document says when it is due again. */
const jobWorker = (deps: JobPartsDeps, { consumer, turnsOf, ...places }: Places): Part => {
  const { jobs, config, nats, timing, log, metrics } = deps;
  const spec = jobStream(config.natsPrefix, timing);
  const types = new Map(jobs.map((one) => [one.name, one]));
  return worker({
    nats,
    stream: spec.stream.name,
    consumer,
    ...places,
    timing,
    repair: () => ensureStream(nats.jsm, spec, config.natsReplicas),
    parse: jobHint,
    handle: async ({ type, id, tenant_id: tenantId = "" }, { signal }): Promise<Settlement> => {
      const known = types.get(type);
      if (known === undefined) return { kind: "drop", reason: "a type of job that this release does not know" };
      const late = AbortSignal.any([signal, deps.stopping, AbortSignal.timeout(mostWaitMs)]);
      await turnsOf(known)(tenantId, () => known.run(id, deps, signal), late);
      return { kind: "done" };
    },
    name: consumer,
    log,
    tracer: deps.tracer,
    metrics: metrics.queue,
  });
};
