import { setTimeout as sleep } from "node:timers/promises";
import type { Part } from "#core/runtime/process/lifecycle.ts";

export type PassesDeps = {
  name: string;
  /** Pause after each pass. */
  everyMs: number;
  /** Stops early when `stop` aborts. */
  pass: (stop: AbortSignal) => Promise<void>;
  onError: (error: unknown) => void;
};

/** Runs one pass after another until the program stops, which waits for the pass under way. */
export const passes = ({ name, everyMs, pass, onError }: PassesDeps): Part => {
  const stopping = new AbortController();
  const { signal } = stopping;
  let loop: Promise<void> = Promise.resolve();
  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      await pass(signal).catch(onError);
      await sleep(everyMs, undefined, { signal }).catch(() => undefined);
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
