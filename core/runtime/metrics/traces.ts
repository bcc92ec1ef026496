import type { Registry } from "prom-client";
import { combinations, metricsIn } from "./series.ts";

export type TraceMetrics = ReturnType<typeof traceMetrics>;

/** What became of the spans of sampled traces. */
export const traceMetrics = (registry: Registry) => ({
  spans: metricsIn(registry).counterFromZero(
    "herald_spans_total",
    "spans of traces by what became of them (exported; dropped, as too many waited; failed, as the receiver did not take them)",
    combinations({ outcome: ["exported", "dropped", "failed"] }),
  ),
});
