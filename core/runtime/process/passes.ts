import { setTimeout as sleep } from "node:timers/promises";
import type { Part } from "./lifecycle.ts";

export type PassesDeps = {
  name: string;
  /** Pause after each pass. */
  everyMs: number;
  /** Pause after one that failed; as after each when left out. */
  failedMs?: number;
  /** Stops early when `stop` aborts. False: a part of it failed. */
  pass: (stop: AbortSignal) => Promise<unknown>;
  onError: (error: unknown) => void;
};

/** Runs one pass after another until the program stops, which waits for the pass under way. */
export const passes = ({ name, everyMs, failedMs = everyMs, pass, onError }: PassesDeps): Part => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let loop: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const isDone = await pass(signal).catch((error: unknown) => {
        onError(error);
        return false;
      });
      await sleep(isDone === false ? failedMs : everyMs, undefined, { signal }).catch(() => undefined);
    }
  };
  return {
    name,
    start: async () => {
      loop = run();
    },
    stop: async () => {
      stopping.abort();
      await loop;
    },
  };
};
