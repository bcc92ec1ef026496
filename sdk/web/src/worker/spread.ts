const longestS = 20; // browsers end a worker that works on after its push for longer

/** How long a report waits, ms: any time within the seconds that a push says, so that not all browsers report at once. */
export const waitMs = (withinS: number, random: number): number =>
  Math.min(withinS > 0 ? withinS : 0, longestS) * random * 1_000;
