import { LRUCache } from "lru-cache";
import { type SlowKeys, threadQueue } from "../threads/thread-queue.ts";

export type TwoThreads<Job, Result> = {
  /** `overtime` when it takes longer than it may. Never rejects. */
  run: (job: Job) => Promise<Result | "overtime">;
  stop: () => Promise<void>;
};

export type TwoThreadsOptions<Job, Result> = {
  /** What the threads run: a file that calls `serve`. */
  file: URL;
  batchOf: (jobs: readonly Job[]) => unknown;
  /** Of the template: each has its turn. */
  keyOf: (job: Job) => string;
  /** What one render may take, ms of processor time. */
  renderMs: number;
  /** Beyond that, ms of the clock: a thread whose step does not end is ended then. It may only have waited for a processor. */
  slackMs: number;
  memoryMegabytes: number;
  /** Given when the program stops, too many wait, or no thread starts. */
  unavailable: Result;
};

/** A render that takes longer is ended and done again by the thread for slow templates. */
const quickMs = 10;

/** Renders templates in two threads, so that neither the event loop nor a template that is quick waits for one that is slow. */
export const twoThreads = <Job, Result>({
  renderMs,
  ...options
}: TwoThreadsOptions<Job, Result>): TwoThreads<Job, Result> => {
  const shared = {
    ...options,
    startMs: 10_000,
    mostOfKey: 20_000,
    mostWaiting: 20_000, // what a dispatcher sends at once is less
  };
  const none = { has: () => false, add: () => undefined };
  const quick = threadQueue<Job, Result>({
    ...shared,
    limitMs: quickMs,
    most: 100,
    hasSpare: true,
    slowOnes: slowTemplates(),
  });
  const slow = threadQueue<Job, Result>({
    ...shared,
    limitMs: renderMs,
    most: 1,
    hasSpare: false,
    slowOnes: none,
  });
  return {
    run: async (job) => {
      const first = await quick.run(job);
      return first === "overtime" ? slow.run(job) : first;
    },
    stop: async () => {
      await Promise.all([quick.stop(), slow.stop()]);
    },
  };
};

const firstMs = 1_000; // then it is tried again as a quick one: the machine may have been busy, or the values large
const longestMs = 60_000;
const mostSlow = 200;

/** Templates that were too slow. Each time they are remembered for twice as long, from the start after a quiet while. */
const slowTemplates = (): SlowKeys => {
  const slow = new LRUCache<string, { untilMs: number; forMs: number }>({ max: mostSlow });
  return {
    has: (template) => (slow.peek(template)?.untilMs ?? 0) > performance.now(),
    add: (template) => {
      const nowMs = performance.now();
      const before = slow.peek(template);
      if (before !== undefined && before.untilMs > nowMs) return;
      const isRecent = before !== undefined && nowMs - before.untilMs < longestMs;
      const forMs = isRecent ? Math.min(before.forMs * 2, longestMs) : firstMs;
      slow.set(template, { untilMs: nowMs + forMs, forMs });
    },
  };
};
