import type { Registry } from "prom-client";
import { metricsIn } from "./series.ts";

export type StoreName = "mongodb" | "jetstream" | "redis" | "files";

/** Takes the duration of a call, in seconds. */
export type OnCall = (seconds: number) => void;

export type StoreMetrics = { timer: (store: StoreName) => OnCall };

/** How long the stores take, as their callers see it. */
export const storeMetrics = (registry: Registry): StoreMetrics => {
  const seconds = metricsIn(registry).histogram(
    "herald_store_call_duration_seconds",
    "answered calls of a store: a command of mongodb or redis, a publication into jetstream, one operation on a file (a write: the whole file)",
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30], // redis answers in 1 ms, a batch of mongodb in 20, an upload in seconds
    ["store"],
  );
  return {
    timer: (store) => {
      const labels = { store };
      seconds.zero(labels);
      return (took) => seconds.observe(labels, took);
    },
  };
};
