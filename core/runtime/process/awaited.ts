import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "./log.ts";

export type AwaitedOptions = {
  /** Name of the store, as its log events begin. */
  store: string;
  /** Whether an error means that the store cannot be reached. */
  isAway: (error: unknown) => boolean;
  log: Log;
};

const pauseMs = 1_000;
const logEveryMs = 60_000;

/**
 * Makes a call until the store can be reached, however long that takes, and says so: `STORE.awaited` at once and each
 * minute, then `STORE.reached`. Rejects with every other error, and when `signal` aborts.
 */
export const untilReached = async <T>(
  call: () => Promise<T>,
  { store, isAway, log }: AwaitedOptions,
  signal: AbortSignal,
): Promise<T> => {
  let loggedMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    try {
      const result = await call();
      if (loggedMs !== Number.NEGATIVE_INFINITY) log.info(`${store}.reached`);
      return result;
    } catch (err) {
      if (!isAway(err)) throw err;
      if (performance.now() - loggedMs >= logEveryMs) {
        log.warn({ err }, `${store}.awaited`);
        loggedMs = performance.now();
      }
    }
    await sleep(pauseMs, undefined, { signal });
  }
};
