import { limitOf } from "./suite/slowness.ts";

/**
 * By then what was announced is in force everywhere, however busy the machine is. It was the announcement that did it:
 * what is cached lives on for half a minute at least. What a quiet machine needs is judged by within-a-second.test.ts.
 */
export const announcedMs = 20_000;

/**
 * How long the quickest of some runs took. What waits for a limit does so each time; a busy machine delays some of them. So a
 * test tells one from the other, where it would not by a single run.
 */
export const leastMs = async (run: () => Promise<unknown>, { times = 5 } = {}): Promise<number> => {
  let least = Infinity;
  for (let n = 0; n < times; n++) {
    const beganMs = performance.now();
    await run();
    least = Math.min(least, performance.now() - beganMs);
  }
  return least;
};

/** What code that waits for nothing takes of a processor, whatever runs beside it. */
export const cpuMs = async (run: () => unknown): Promise<number> => {
  const before = process.threadCpuUsage();
  await run();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000;
};

const firstPauseMs = 10;
const longestPauseMs = 200;

/**
 * Waits until a condition holds; fails after `mostMs`, and later on a machine that computes slowly, which is measured only
 * then. It is looked at more and more rarely, never later than a fifth of the time that has passed and `everyMs`: what is
 * asked for all the time keeps busy who is to answer.
 */
export const until = async (
  holds: () => boolean | Promise<boolean>,
  mostMs = 60_000,
  everyMs = longestPauseMs,
): Promise<void> => {
  const beganMs = performance.now();
  const isOver = limitOf(mostMs);
  while (!(await holds())) {
    const passedMs = performance.now() - beganMs;
    if (isOver(passedMs)) throw new Error(`a condition did not come true within ${Math.round(passedMs)} ms`);
    const pauseMs = Math.max(firstPauseMs, Math.min(passedMs / 5, everyMs));
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
};
