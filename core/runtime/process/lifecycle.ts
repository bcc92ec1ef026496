import { flushCompileCache } from "node:module";
import { leaveSignals } from "./early-signals.ts";
import { giveBackMemoryWhenIdle } from "./idle-memory.ts";
import type { Log } from "./log.ts";

/** A part of a program that has a beginning and an end. */
export type Part = {
  name: string;
  /** Resolves when the part works; `signal` aborts when the program is to stop meanwhile. */
  start: (signal: AbortSignal) => Promise<void>;
  /** Takes no new work and finishes what is in hand; what is left when `signal` aborts is given up. */
  stop: (signal: AbortSignal) => Promise<void>;
};

/**
 * Runs a program: starts its parts in order, waits for SIGTERM or SIGINT, stops them in reverse within `graceMs`.
 * A part that fails to start, an unhandled rejection or an uncaught exception stops what runs and gives code 1; so does
 * a grace that runs out. A second signal ends the process at once. Call it last in program.ts:
 * `endWith(runProgram(…))`.
 */
export const runProgram = async ({ log, graceMs, parts, work }: ProgramOptions): Promise<number> => {
  const ending = watchForEnd(log);
  const started: Part[] = [];
  try {
    const tookMs = await startAll(parts, started, ending.signal);
    const isUp = tookMs !== null;
    if (isUp) log.info({ parts: started.length, ...spent(), slowestMs: slowestOf(tookMs) }, "program.started");
    flushCompileCache(); // of sources that run as they are, also for a program that is killed; nothing without a cache
    if (isUp) giveBackMemoryWhenIdle();
    if (isUp && work !== undefined) ending.end(await Promise.race([ending.code, work(ending.signal)]));
    await ending.code;
  } catch (err) {
    log.error({ err }, "program.start_failed");
    ending.end(1);
  }
  const isClean = await stopAll(started.reverse(), graceMs, log);
  const code = isClean ? await ending.code : 1;
  log.info({ code }, "program.stopped");
  ending.forget();
  return code;
};

/** What the process has taken since it began: time, and CPU of all its threads. */
const spent = (): { tookMs: number; cpuMs: number } => {
  const { user, system } = process.cpuUsage();
  return { tookMs: Math.round(performance.now()), cpuMs: Math.round((user + system) / 1_000) };
};

const shownParts = 3;

/** The parts that took longest to start, and how long: what a start waited for. */
const slowestOf = (tookMs: ReadonlyMap<string, number>): Record<string, number> =>
  Object.fromEntries([...tookMs].toSorted(([, a], [, b]) => b - a).slice(0, shownParts));

/** Ends the process with a program's code. */
export const endWith = (code: Promise<number>): void => void code.then((known) => process.exit(known));

/** A part that is made when it starts, so that what only it needs is loaded by then. */
export const madeAtStart = (name: string, make: () => Promise<Part>): Part => {
  let made: Part | undefined;
  return {
    name,
    start: async (signal) => {
      made = await make();
      await made.start(signal);
    },
    stop: async (signal) => made?.stop(signal),
  };
};

export type ProgramOptions = {
  log: Log;
  graceMs: number;
  /** In their order. Each is asked for when those before it have started, so that a part may wait for what it is made of. */
  parts: Iterable<Part> | AsyncIterable<Part>;
  /** For a program that ends by itself: what it does once its parts are up; gives the code to end with. */
  work?: (signal: AbortSignal) => Promise<number>;
};

/** How long each part took to start, the making of it included; null when the program is to stop meanwhile. */
const startAll = async (
  parts: ProgramOptions["parts"],
  started: Part[],
  signal: AbortSignal,
): Promise<Map<string, number> | null> => {
  const tookMs = new Map<string, number>();
  const next = oneAfterAnother(parts, signal);
  for (;;) {
    const beganMs = performance.now();
    const part = await next();
    if (signal.aborted) return null;
    if (part === null) return tookMs;
    started.push(part); // before it starts: what it opened until it failed has to be closed too
    try {
      await part.start(signal);
    } catch (cause) {
      if (signal.aborted) return null;
      throw new Error(`${part.name} did not start`, { cause });
    }
    tookMs.set(part.name, Math.round(performance.now() - beganMs));
  }
};

/** Gives one part after another, and null after the last; also null when the program is to stop meanwhile. */
const oneAfterAnother = (parts: ProgramOptions["parts"], signal: AbortSignal): (() => Promise<Part | null>) => {
  const iterator = Symbol.asyncIterator in parts ? parts[Symbol.asyncIterator]() : parts[Symbol.iterator]();
  const { promise: aborted, resolve } = Promise.withResolvers<null>();
  signal.addEventListener("abort", () => resolve(null), { once: true });
  const next = async (): Promise<Part | null> => {
    const { done, value } = await iterator.next();
    return done === true ? null : value;
  };
  return () => Promise.race([next(), aborted]);
};

/** After the grace a part still has `part` to heed its signal, and all parts have `all` in sum. */
export const lateMs = { part: 1_000, all: 4_000 }; // the chart has a pod killed 5 s after the grace

/** A part that outlasts the grace is left behind; those that come after it are stopped all the same. */
const stopAll = async (started: readonly Part[], graceMs: number, log: Log): Promise<boolean> => {
  const endsAtMs = performance.now() + graceMs;
  const grace = new AbortController();
  const timer = setTimeout(() => grace.abort(new Error("the grace is over")), graceMs);
  let isClean = true;
  for (const part of started) {
    try {
      await within(endsAtMs, part.stop(grace.signal));
    } catch (err) {
      isClean = false;
      log.error({ part: part.name, err }, "part.stop_failed");
    }
  }
  clearTimeout(timer);
  return isClean;
};

/** Rejects when a part that begins to stop now has had its time. */
const within = async (graceEndsAtMs: number, stopping: Promise<void>): Promise<void> => {
  const { promise: over, reject } = Promise.withResolvers<never>();
  const nowMs = performance.now();
  const untilMs = Math.min(Math.max(graceEndsAtMs, nowMs) + lateMs.part, graceEndsAtMs + lateMs.all);
  const timer = setTimeout(() => reject(new Error("not stopped within the grace")), Math.max(0, untilMs - nowMs));
  await Promise.race([stopping, over]).finally(() => clearTimeout(timer));
};

type Ending = { code: Promise<number>; signal: AbortSignal; end: (code: number) => void; forget: () => void };

const watchForEnd = (log: Log): Ending => {
  const controller = new AbortController();
  const { promise: code, resolve } = Promise.withResolvers<number>();
  const end = (endCode: number): void => {
    resolve(endCode);
    controller.abort(new Error("the program is stopping"));
  };
  let isStopping = false;
  const onSignal = (name: NodeJS.Signals): void => {
    log.info({ signal: name }, isStopping ? "program.killed" : "program.stopping");
    if (isStopping) process.exit(1);
    isStopping = true;
    end(0);
  };
  const onCrash = (err: unknown): void => {
    log.error({ err }, "program.crashed");
    end(1);
  };
  const forget = listen({
    SIGTERM: onSignal,
    SIGINT: onSignal,
    uncaughtException: onCrash,
    unhandledRejection: onCrash,
  });
  leaveSignals(); // only now: at no moment is there no listener
  return { code, signal: controller.signal, end, forget };
};

type Listener = ((name: NodeJS.Signals) => void) | ((error: unknown) => void);

const listen = (listeners: Record<string, Listener>): (() => void) => {
  for (const [event, listener] of Object.entries(listeners)) process.on(event, listener);
  return () => {
    for (const [event, listener] of Object.entries(listeners)) process.off(event, listener);
  };
};
