import type { Metrics } from "../../schema/analytics/metrics.ts";

/** Values of conversions are added up as whole millionths: in whichever order, the sum is the same. */
export const millionths = 1_000_000;
/** A conversion counts for as much at most, and for as little: a sum of these is never beyond what a number can be. */
export const largestValue = 1e15;

/** Metrics as they are shown: what is counted in millionths is a plain number. */
export const inUnits = (counted: Metrics): Metrics => ({
  ...counted,
  conversion_value: counted.conversion_value / millionths,
});
