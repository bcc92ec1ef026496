import type { Log } from "./log.ts";

/** A part of a program that has a beginning and an end. */
export type Part = {
  name: string;
  /** Resolves when the part works; `signal` aborts when the program is told to stop meanwhile. */
  start: (signal: AbortSignal) => Promise<void>;
  /** Takes no new work and finishes what is in hand; what is left when `signal` aborts is given up. */
  stop: (signal: AbortSignal) => Promise<void>;
};

/**
 * Runs a program: starts its parts in order, waits for SIGTERM or SIGINT, stops them in reverse within `graceMs`.
 * A part that fails to start, an unhandled rejection or an uncaught exception stops what runs and gives code 1; so does
 * a grace that runs out. A second signal ends the process at once. Call it last in main.ts:
 * `process.exit(await runProgram(…))`.
 */
export const runProgram = async ({ log, graceMs, parts, work }: ProgramOptions): Promise<number> => {
  const ending = watchForEnd(log);
  const started: Part[] = [];
  try {
    const isUp = await startAll(parts, started, ending.signal);
    if (isUp) log.info({ parts: parts.length }, "program.started");
    if (isUp && work !== undefined) ending.end(await Promise.race([ending.told, work(ending.signal)]));
    await ending.told;
  } catch (err) {
    log.error({ err }, "program.start_failed");
    ending.end(1);
  }
  const isClean = await stopAll(started.reverse(), graceMs, log);
  const code = isClean ? await ending.told : 1;
  log.info({ code }, "program.stopped");
  ending.forget();
  return code;
};

export type ProgramOptions = {
  log: Log;
  graceMs: number;
  parts: readonly Part[];
  /** For a program that ends by itself: what it does once its parts are up; gives the code to end with. */
  work?: (signal: AbortSignal) => Promise<number>;
};

const startAll = async (parts: readonly Part[], started: Part[], signal: AbortSignal): Promise<boolean> => {
  for (const part of parts) {
    if (signal.aborted) return false;
    started.push(part); // before it starts: what it opened until it failed has to be closed too
    try {
      await part.start(signal);
    } catch (cause) {
      if (signal.aborted) return false;
      throw new Error(`${part.name} did not start`, { cause });
    }
  }
  return true;
};

const stopAll = async (started: readonly Part[], graceMs: number, log: Log): Promise<boolean> => {
  const { signal, over, cancel } = grace(graceMs);
  let isClean = true;
  for (const part of started) {
    try {
      await Promise.race([part.stop(signal), over]);
    } catch (err) {
      isClean = false;
      log.error({ part: part.name, err }, "part.stop_failed");
    }
  }
  cancel();
  return isClean;
};

/** `over` rejects soon after the grace has run out, so that a part which heeds its signal can still end by itself. */
const grace = (graceMs: number): { signal: AbortSignal; over: Promise<never>; cancel: () => void } => {
  const controller = new AbortController();
  const { promise: over, reject } = Promise.withResolvers<never>();
  over.catch(() => undefined);
  const heedMs = 500;
  const abort = setTimeout(() => controller.abort(new Error("the grace is over")), graceMs);
  const giveUp = setTimeout(() => reject(new Error(`not stopped within ${graceMs} ms`)), graceMs + heedMs);
  const cancel = (): void => {
    clearTimeout(abort);
    clearTimeout(giveUp);
  };
  return { signal: controller.signal, over, cancel };
};

type Ending = { told: Promise<number>; signal: AbortSignal; end: (code: number) => void; forget: () => void };

const watchForEnd = (log: Log): Ending => {
  const controller = new AbortController();
  const { promise: told, resolve } = Promise.withResolvers<number>();
  const end = (code: number): void => {
    resolve(code);
    controller.abort(new Error("the program is stopping"));
  };
  let isTold = false;
  const onSignal = (name: NodeJS.Signals): void => {
    log.info({ signal: name }, isTold ? "program.killed" : "program.stopping");
    if (isTold) process.exit(1);
    isTold = true;
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
  return { told, signal: controller.signal, end, forget };
};

type Listener = ((name: NodeJS.Signals) => void) | ((error: unknown) => void);

const listen = (listeners: Record<string, Listener>): (() => void) => {
  for (const [event, listener] of Object.entries(listeners)) process.on(event, listener);
  return () => {
    for (const [event, listener] of Object.entries(listeners)) process.off(event, listener);
  };
};
