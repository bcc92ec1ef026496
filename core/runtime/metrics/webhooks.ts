import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { webhookErrorClasses } from "../../schema/vocabulary/webhook-errors.ts";
import { combinations, counterFromZero } from "./series.ts";

/** Rate, errors and duration of requests to endpoints, and how endpoints are doing. */
export const webhookMetrics = (registry: Registry) => {
  const registers = [registry];
  return {
    webhookAttempts: counterFromZero({
      name: "herald_webhook_attempts_total",
      help: "requests to endpoints by outcome (success, failed, dead) and, unless they succeeded, why (error_class)",
      registry,
      series: [
        { outcome: "success", error_class: "none" },
        ...combinations({ outcome: ["failed", "dead"], error_class: webhookErrorClasses }),
      ],
    }),
    webhookSeconds: new Histogram({
      name: "herald_webhook_attempt_duration_seconds",
      help: "from resolving an endpoint's name to the last byte read of its reply",
      buckets: [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 31], // beyond 10 s: cut off by the standard deadline; the longest is 30 s
      registers,
    }),
    webhookQueueSeconds: new Histogram({
      name: "herald_webhook_queue_seconds",
      help: "age of a delivery when its first request begins",
      buckets: [0.005, 0.01, 0.025, 0.1, 0.25, 1, 5, 30, 300, 3_600, 86_400], // ms when all is well; hours behind an endpoint that hangs
      registers,
    }),
    webhookHandedOver: new Counter({
      name: "herald_webhook_handed_over_total",
      help: "endpoints whose events of a batch another dispatcher has taken, as it owns them",
      registers,
    }),
    webhookFallbacks: new Counter({
      name: "herald_webhook_fallbacks_total",
      help: "endpoints whose events of a batch were left to the store, as no owner took them",
      registers,
    }),
    webhookEndpoints: new Gauge({
      name: "herald_webhook_endpoints",
      help: "endpoints by state (active, failing, disabled); counted by the one process that checks their health",
      labelNames: ["state"] as const,
      registers,
    }),
  };
};

/** What is read when it is asked for, rather than kept. */
export type WebhookLevels = {
  /** Endpoints for which this process has something to do. */
  endpointQueues: () => number;
  /** Requests that have begun and not ended. */
  inFlight: () => number;
  /** Shares of the endpoints that this process owns. */
  shares: () => number;
};

/** Declares the gauges of a dispatcher that runs. */
export const watchWebhookLevels = (registry: Registry, levels: WebhookLevels): void => {
  const endpointQueues: Gauge = new Gauge({
    name: "herald_webhook_lanes",
    help: "endpoints for which this process has something to do",
    registers: [],
    collect: (): void => endpointQueues.set(levels.endpointQueues()),
  });
  const inFlight: Gauge = new Gauge({
    name: "herald_webhook_requests_in_flight",
    help: "requests to endpoints that have begun and not ended",
    registers: [],
    collect: (): void => inFlight.set(levels.inFlight()),
  });
  const shares: Gauge = new Gauge({
    name: "herald_webhook_shares",
    help: "shares of the endpoints that this process owns, of 64 over all",
    registers: [],
    collect: (): void => shares.set(levels.shares()),
  });
  registry.registerMetric(shares);
  registry.registerMetric(endpointQueues);
  registry.registerMetric(inFlight);
};
