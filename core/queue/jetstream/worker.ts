import { once } from "node:events";
import type { Timing } from "../../domain/timing.ts";
import { countAside, type QueueMetrics } from "../../runtime/metrics/queue.ts";
import { lateMs, type Part } from "../../runtime/process/lifecycle.ts";
import type { Log } from "../../runtime/process/log.ts";
import { traceFacts } from "../../runtime/tracing/traceparent.ts";
import type { Span, Tracer } from "../../runtime/tracing/tracer.ts";
import type { Nats } from "./connect.ts";
import type { Hint } from "./hint.ts";
import { isPassing } from "./passing.ts";
import { Puller } from "./pull.ts";
import { placesOfOne, type SharedPlaces } from "./shared-places.ts";
import { noTurns, type TenantTurns } from "./tenant-turns.ts";

/** What becomes of a hint: it is done, it comes again later, or it is given up. */
export type Settlement =
  | { kind: "done" }
  | { kind: "retry"; delayMs: number; reason: string }
  | { kind: "drop"; reason: string };

export type HandlerContext = {
  subject: string;
  /** Aborts after `timeoutMs`, and when the program's grace is over. */
  signal: AbortSignal;
  /** 1 for the first delivery. */
  attempt: number;
  /**
   * Whether it may have been handled before: it comes again, or its publisher says so. A first delivery may have been,
   * too, shortly after the connection was lost: a JetStream that is killed forgets what it handed out last, and the
   * acknowledgements.
   */
  isRepeated: boolean;
  /** The message's, or that of the span that handling it is. */
  traceparent: string | null;
};

export type WorkerOptions<T> = {
  nats: Nats;
  stream: string;
  consumer: string;
  /** Handlers that run at the same time; nothing is fetched ahead of them. */
  concurrency: number;
  /** A message takes a place for each so many bytes of it; left out: one place. */
  bytesOfPlace?: number;
  /** Places that it shares with others; left out: it has its own. */
  places?: SharedPlaces;
  /** Tells whether a message is its tenant's turn; left out: all are. */
  turns?: TenantTurns;
  /** Names it in spans and in metrics, but for how many messages it handled; its consumer's name when left out. */
  series?: string;
  timeoutMs: number;
  /** Of the stream's consumers, and how often JetStream hears of messages in hand. */
  timing: Pick<Timing, "ackWaitMs" | "ackBeatMs">;
  /** Makes the stream and its consumer again, should they be gone while there is work for them. */
  repair?: () => Promise<unknown>;
  parse: (input: unknown) => T;
  handle: (data: T, context: HandlerContext) => Promise<Settlement>;
  name: string;
  log: Log;
  metrics: QueueMetrics;
  tracer: Pick<Tracer, "child">;
};

const retryMs = { first: 1_000, most: 60_000 };
const setAsideFrom = 5; // deliveries in which a hint failed: by then it has been tried for a quarter of a minute

type Job = {
  hint: Hint;
  startedMs: number;
  isRepeated: boolean;
  /** Of the message while nothing of it is recorded, else of its span. */
  traceparent: string | null;
  abort: AbortController;
  end: Promise<void>;
};

/**
 * Hands a consumer's hints to a handler and settles them; nothing else acknowledges anything. A handler that throws
 * is called again after 1 s, doubling to 60 s; a hint that cannot be parsed is dropped and logged as an error.
 * Outlives restarts of JetStream and the deletion of its stream or consumer.
 */
export const worker = <T>(given: WorkerOptions<T>): Part => {
  const options = { ...given, series: given.series ?? given.consumer };
  const { nats, stream, consumer, series, concurrency, timing, log } = options;
  const { bytesOfPlace = Number.POSITIVE_INFINITY, turns = noTurns, repair } = options;
  declareSeries(options);
  const jobs = new Set<Job>();
  let taken = 0;
  let isStopping = false;
  let heartbeat: NodeJS.Timeout | undefined;

  const placesOf = ({ bytes }: Hint): number => Math.max(1, Math.ceil(bytes / bytesOfPlace));
  const onHint = (delivered: Hint): void => {
    if (isStopping) return delivered.nak(); // at once, to another process
    if (jobs.size >= concurrency) return delivered.nak(retryMs.first); // an answer to a request that was thought lost
    const needed = placesOf(delivered);
    const turn = turns.take(heedingReconnect(delivered, options), needed);
    if (turn === null) return;
    const job = begun(turn.hint);
    jobs.add(job);
    taken += needed;
    job.end = run(job, options).finally(() => {
      jobs.delete(job);
      taken -= needed;
      turn.free();
      places.freed();
    });
  };
  const places = (options.places ?? placesOfOne(concurrency)).join(
    () => taken + pull.asked,
    () => pull.freed(),
  );
  const pull: Puller = new Puller({
    nats,
    stream,
    consumer,
    concurrency,
    mayAsk: places.mayAsk,
    placesOf,
    firstPlaces: Number.isFinite(bytesOfPlace) ? Math.sqrt(concurrency) : 1, // large ones would come all at once
    onHint,
    repair,
    log,
  });

  return {
    name: options.name,
    start: async () => {
      countAside(options.metrics, series);
      heartbeat = setInterval(() => keepAlive(jobs, options.timeoutMs), timing.ackBeatMs);
      pull.start();
    },
    stop: async (signal) => {
      isStopping = true;
      await pull.stop();
      places.leave();
      await finish(jobs, signal);
      clearInterval(heartbeat);
    },
  };
};

/** What a worker was given, its series named. */
type Named<T> = WorkerOptions<T> & { series: string };

/** As counterFromZero has it: rate, errors and duration of a consumer are there before its first message. */
const declareSeries = <T>({ stream, consumer, series, metrics }: Named<T>): void => {
  for (const settlement of settlements) metrics.messages.inc({ stream, consumer, settlement }, 0);
  metrics.redeliveries.inc({ consumer: series }, 0);
  metrics.handleSeconds.zero({ consumer: series });
};

/** What JetStream has forgotten comes first after a reconnect, as if for the first time. */
const heedingReconnect = (hint: Hint, { nats, timing }: Pick<WorkerOptions<unknown>, "nats" | "timing">): Hint =>
  nats.sinceReconnectMs() < timing.ackWaitMs ? { ...hint, mayBeRepeated: true } : hint;

const begun = (hint: Hint): Job => ({
  hint,
  startedMs: Date.now(),
  isRepeated: hint.attempt > 1 || hint.mayBeRepeated,
  traceparent: hint.traceparent,
  abort: new AbortController(),
  end: Promise.resolve(),
});

/** Handles and settles one hint; never rejects. */
const run = async <T>(job: Job, options: Named<T>): Promise<void> => {
  const { stream, consumer, series, metrics, timeoutMs } = options;
  const { hint, abort, startedMs } = job;
  if (hint.attempt > 1) metrics.redeliveries.inc({ consumer: series });
  metrics.inFlight.inc({ consumer: series });
  const span = options.tracer.child(`process ${series}`, "consumer", hint.traceparent);
  job.traceparent = span?.traceparent ?? hint.traceparent;
  const timer = setTimeout(() => abort.abort(new Error(`not handled within ${timeoutMs} ms`)), timeoutMs);
  const settlement = await attempt(job, options);
  clearTimeout(timer);
  metrics.inFlight.dec({ consumer: series });
  metrics.handleSeconds.observe({ consumer: series }, (Date.now() - startedMs) / 1_000, job.traceparent);
  metrics.messages.inc({ stream, consumer, settlement: settlement.failed ? "failed" : settlement.kind });
  settle(hint, settlement);
  if (span !== null) endSpan(span, job, { consumer, settlement });
};

/** Source of the names: OpenTelemetry's semantic conventions for messaging, "Consumer spans". */
const endSpan = (
  span: Span,
  { hint }: Job,
  { consumer, settlement }: { consumer: string; settlement: Attempted },
): void => {
  span.set({
    "messaging.system": "nats",
    "messaging.operation.type": "process",
    "messaging.operation.name": "process",
    "messaging.consumer.group.name": consumer,
    "messaging.message.body.size": hint.bytes,
    "herald.attempt": hint.attempt,
    "herald.outcome": settlement.kind,
  });
  if (settlement.failed || settlement.kind === "drop") span.fail(settlement.failed ? "failed" : "drop");
  span.end();
};

type Attempted = Settlement & { failed?: true };

const settlements: readonly (Settlement["kind"] | "failed")[] = ["done", "retry", "drop", "failed"];

const attempt = async <T>(job: Job, options: Named<T>): Promise<Attempted> => {
  const { hint, abort, isRepeated } = job;
  const parsed = parseBody(hint, options.parse);
  if ("error" in parsed) {
    options.log.error({ ...facts(job, options), err: parsed.error }, "hint.unreadable");
    return { kind: "drop", reason: "unreadable", failed: true };
  }
  try {
    const settlement = await options.handle(parsed.data, {
      subject: hint.subject,
      signal: abort.signal,
      attempt: hint.attempt,
      isRepeated,
      traceparent: job.traceparent,
    });
    if (settlement.kind === "drop") options.log.warn({ ...facts(job, options), ...settlement }, "hint.dropped");
    return settlement;
  } catch (err) {
    const delayMs = retryDelayMs(hint.attempt);
    const isPassed = isPassing(err);
    options.log[isPassed ? "warn" : "error"]({ ...facts(job, options), delayMs, err }, "hint.failed");
    if (!isPassed && hint.attempt >= setAsideFrom) options.metrics.setAside.inc({ source: options.series });
    return { kind: "retry", delayMs, reason: "failed", failed: true };
  }
};

const parseBody = <T>(hint: Hint, parse: (input: unknown) => T): { data: T } | { error: unknown } => {
  try {
    return { data: parse(hint.json()) };
  } catch (error) {
    return { error };
  }
};

const facts = <T>({ hint, startedMs, traceparent }: Job, { name, consumer }: WorkerOptions<T>) => ({
  ...traceFacts(traceparent),
  worker: name,
  consumer,
  subject: hint.subject,
  sequence: hint.sequence,
  attempt: hint.attempt,
  durationMs: Date.now() - startedMs,
});

/** Delay before delivery n + 1, ms: 1 s, doubling, at most 60 s. */
const retryDelayMs = (deliveries: number): number => Math.min(retryMs.first * 2 ** (deliveries - 1), retryMs.most);

const settle = (hint: Hint, settlement: Settlement): void => {
  switch (settlement.kind) {
    case "done":
      return hint.ack();
    case "retry":
      return hint.nak(Math.max(1, settlement.delayMs)); // 0 would mean: at once, without end
    case "drop":
      return hint.term(settlement.reason);
  }
};

/** Reports hints in hand to JetStream; not that of a handler past its time, so that another process gets it. */
const keepAlive = (jobs: ReadonlySet<Job>, timeoutMs: number): void => {
  for (const { hint, startedMs } of jobs) if (Date.now() - startedMs <= timeoutMs) hint.working();
};

const lastMs = lateMs.part - 200; // for handlers to heed their signal

const finish = async (jobs: ReadonlySet<Job>, signal: AbortSignal): Promise<void> => {
  const ends = Promise.all([...jobs].map((job) => job.end));
  if (await endsFirst(ends, signal)) return;
  for (const job of jobs) job.abort.abort(signal.reason);
  await endsFirst(ends, AbortSignal.timeout(lastMs));
};

const endsFirst = async (ends: Promise<unknown>, signal: AbortSignal): Promise<boolean> => {
  if (signal.aborted) return false;
  const ended = new AbortController(); // takes the listener away
  const aborted = once(signal, "abort", { signal: ended.signal }).then(
    () => false,
    () => true,
  );
  const isFirst = await Promise.race([ends.then(() => true), aborted]);
  ended.abort();
  return isFirst;
};
