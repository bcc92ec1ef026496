/** A minute, in milliseconds. */
export const minuteMs = 60_000;

/** A quarter of an hour, in milliseconds. */
export const quarterMs = 900_000;

/** An hour, in milliseconds. */
export const hourMs = 3_600_000;

/** 24 hours, in milliseconds. */
export const dayMs = 86_400_000;

/** Stored work whose hint was lost is found by a dispatcher's timers after so long, in milliseconds. Source: docs/decisions/0001. */
export const sweepMs = 10_000;
