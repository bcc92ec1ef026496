import { setTimeout as sleep } from "node:timers/promises";

/**
 * Lets callers go on one after another, so many a second at most, in order of coming. False for one that was given up
 * while it waited. Its queue is bounded by its callers, who each wait. `perSecond` is asked when somebody comes: who waits
 * already keeps their place.
 */
export const paced = (perSecond: () => number): ((signal: AbortSignal) => Promise<boolean>) => {
  let nextMs = 0;
  return async (signal) => {
    const nowMs = performance.now();
    const atMs = Math.max(nextMs, nowMs);
    nextMs = atMs + 1_000 / perSecond();
    if (atMs === nowMs) return !signal.aborted;
    return sleep(atMs - nowMs, true, { signal }).catch(() => false);
  };
};
