/** The part of the grace that is left for storing the outcomes of the last sends. */
export const reserveMs = 5_000;

/**
 * The time of one send of a program with this grace: never longer than the grace, so that what was begun before SIGTERM
 * has its outcome, and it is stored, before the program ends.
 */
export const sendTimeoutMs = (providersMs: number, graceMs: number): number =>
  Math.min(providersMs, Math.max(graceMs - reserveMs, graceMs / 2));
