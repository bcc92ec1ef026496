/** Parts still read for the first time after their start. */
const lookMs = 5_000;
/** Of the time between two looks, what an idle program works at most; beside other programs it seems to work more. */
const mostWorked = 0.2;

/**
 * Has memory given back once, when the program has been idle for five seconds. A start fills the young generation, 33 MB, which V8
 * keeps: an idle program would have it for good. A program with work would fill it again, and what comes during the collection
 * waits for 50 to 170 ms. Source: docs/decisions/0233. `worked`: which part of the time since its last call, from 0 to 1.
 */
export const giveBackMemoryWhenIdle = ({ giveBack = collect, worked = workedSince(), everyMs = lookMs } = {}): void => {
  const timer = setInterval(() => {
    if (worked() > mostWorked) return;
    clearInterval(timer);
    giveBack();
  }, everyMs).unref();
};

const collect = (): void => globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });

const workedSince = (): (() => number) => {
  let before = performance.eventLoopUtilization();
  return () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  };
};
