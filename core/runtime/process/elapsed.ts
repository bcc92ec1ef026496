import type { Clock } from "../../domain/clock.ts";

/** Milliseconds that never go back, from an instant of no meaning. */
export type MonotonicMs = () => number;

/**
 * How many milliseconds are gone since this call: by the wall clock or by the monotonic one, whichever says more. So a wall
 * clock that is put back gives nothing more time, and a machine that was suspended, where the monotonic one may stand
 * still, has used its time up.
 */
export const elapsedFrom = (clock: Clock, monotonicMs: MonotonicMs = () => performance.now()): (() => number) => {
  const begun = { wallMs: clock.now().getTime(), ms: monotonicMs() };
  return () => Math.max(clock.now().getTime() - begun.wallMs, monotonicMs() - begun.ms);
};
