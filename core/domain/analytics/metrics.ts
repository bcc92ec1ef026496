import type { Metric, Metrics } from "../../schema/analytics/metrics.ts";

/** Metrics that are not zero. */
export type Counted = Partial<Metrics>;

/** Adds, in place. */
export const addTo = (sum: Counted, more: Counted): void => {
  for (const [name, count] of Object.entries(more) as [Metric, number][]) sum[name] = (sum[name] ?? 0) + count;
};
