import { HeraldError } from "../http.ts";

const everyMs = 30_000;
const leastPauseMs = 5_000;
const mostPauseMs = 300_000;

export type Leading = {
  /** Asks once. */
  ask: () => Promise<void>;
  /** Listens until the stream ends; gives in how many milliseconds to come back. */
  listen: (signal: AbortSignal) => Promise<number>;
};

/**
 * Listens, in one of all tabs that are started. Where that fails it asks each half a minute, and tries to listen again; what fails
 * altogether is tried again later each time.
 */
export const lead = (name: string, { ask, listen }: Leading) => {
  let wake = nothing;
  let isLeading = false;
  let stopping = new AbortController();

  const round = (signal: AbortSignal): Promise<number> =>
    listen(signal).catch(async (error: unknown) => {
      if (isTooOften(error)) throw error;
      if (!signal.aborted) await ask();
      return everyMs;
    });

  const leadOn = async (signal: AbortSignal): Promise<void> => {
    isLeading = true;
    let failures = 0;
    while (!signal.aborted) {
      const waitMs = await round(signal).then(
        (ms) => {
          failures = 0;
          return ms;
        },
        (error: unknown) => waitOf(error, ++failures),
      );
      await pause(waitMs, signal);
    }
    isLeading = false;
  };

  /** Until it is stopped, or woken. */
  const pause = (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
      signal.addEventListener("abort", wake, { once: true });
      if (signal.aborted) wake();
    });

  return {
    start: (): void => {
      stopping = new AbortController();
      const { signal } = stopping;
      navigator.locks.request(name, { signal }, () => leadOn(signal)).catch(nothing); // stopped while it waited
    },
    stop: (): void => stopping.abort(),
    wake: (): void => wake(),
    isLeading: (): boolean => isLeading,
  };
};

const nothing = (): void => undefined;

/** Asking would be one request more; a longer wait is for another stream. */
const isTooOften = (error: unknown): boolean =>
  error instanceof HeraldError && error.status === 429 && (error.retryAfterMs ?? 0) <= leastPauseMs;

const waitOf = (error: unknown, failures: number): number => {
  const toldMs = error instanceof HeraldError ? error.retryAfterMs : null;
  return Math.max(leastPauseMs, toldMs ?? Math.min(mostPauseMs, everyMs * 2 ** failures));
};
