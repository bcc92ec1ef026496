import type { Registry } from "prom-client";
import { webhookErrorClasses } from "../../schema/vocabulary/webhook-errors.ts";
import { combinations, metricsIn } from "./series.ts";

/** Rate, errors and duration of requests to endpoints, and how endpoints are doing. */
export const webhookMetrics = (registry: Registry) => {
  const { counter, counterFromZero, gauge, tracedHistogram } = metricsIn(registry);
  return {
    webhookAttempts: counterFromZero(
      "herald_webhook_attempts_total",
      "requests to endpoints by outcome (success, failed, dead) and, unless they succeeded, why (error_class)",
      [
        { outcome: "success", error_class: "none" },
        ...combinations({ outcome: ["failed", "dead"], error_class: webhookErrorClasses }),
      ],
    ),
    webhookSeconds: tracedHistogram(
      "herald_webhook_attempt_duration_seconds",
      "from resolving an endpoint's name to the last byte read of its reply",
      [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 31], // beyond 10 s: cut off by the standard deadline; the longest is 30 s
    ),
    webhookQueueSeconds: tracedHistogram(
      "herald_webhook_queue_seconds",
      "age of a delivery when its first request begins",
      [0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 30, 300, 3_600, 86_400], // ms when all is well; hours behind an endpoint that hangs
    ),
    webhookFallbacks: counter(
      "herald_webhook_fallbacks_total",
      "endpoints whose events of a batch were left to the store, as the process that read them does not serve them",
    ),
    webhookDeferred: counterFromZero(
      "herald_webhook_deferred_total",
      "deliveries that were stored before they were sent, which costs three times as much: no room in memory (full), or not sent in time (slow)",
      combinations({ reason: ["full", "slow"] }),
    ),
    webhookEndpoints: gauge(
      "herald_webhook_endpoints",
      "endpoints by state (active, failing, disabled); counted by the one process that checks their health",
      ["state"],
    ),
  };
};

/** What is read when it is asked for, rather than kept. */
export type WebhookLevels = {
  /** Endpoints for which this process has something to do. */
  endpointQueues: () => number;
  /** Requests that have begun and not ended. */
  inFlight: () => number;
  /** Partitions of the events that this process owns. */
  partitions: () => number;
};

/** Declares the gauges of a dispatcher that runs. */
export const watchWebhookLevels = (registry: Registry, levels: WebhookLevels): void => {
  const { level } = metricsIn(registry);
  level("herald_webhook_endpoint_queues", "endpoints for which this process has something to do", (into) =>
    into.set(levels.endpointQueues()),
  );
  level("herald_webhook_partitions", "partitions of the events that this process owns", (into) =>
    into.set(levels.partitions()),
  );
  level("herald_webhook_requests_in_flight", "requests to endpoints that have begun and not ended", (into) =>
    into.set(levels.inFlight()),
  );
};
