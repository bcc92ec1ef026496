import { type TimingName, timings } from "#core/domain/timing.ts";

/** Set by `make soak`. */
export const soakVariable = "HERALD_TEST_SOAK";

const isSoak = process.env[soakVariable] === "1";

/** The timing that programs of tests are given: short, and in `make soak` what users have. */
export const testTimingName: TimingName = isSoak ? "usual" : "short";
export const testTiming = timings[testTimingName];

/** How often or how long something is tried: `make soak` does it for longer. */
export const inSuite = <T>(suite: T, { soak }: { soak: T }): T => (isSoak ? soak : suite);
