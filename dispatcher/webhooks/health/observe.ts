import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { CountUsage } from "#core/storage/usage/counter.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Sent } from "../send/send-webhook.ts";
import type { RequestLog } from "./request-log.ts";
import type { EndpointStats } from "./stats.ts";

export type ObserveDeps = {
  stats: Pick<EndpointStats, "add">;
  requestLog: Pick<RequestLog, "note">;
  metrics: Pick<DispatcherMetrics, "webhookAttempts" | "webhookSeconds" | "webhookQueueSeconds">;
  countUsage: CountUsage;
};

/** Takes note of a request that was made. */
export type Observe = (endpoint: WebhookRow, delivery: WebhookDeliveryRow, sent: Sent) => void;

/** For each request: a note for the log, a measurement and, but for tests, a sample of the endpoint's health. */
export const observe =
  ({ stats, metrics, requestLog, countUsage }: ObserveDeps): Observe =>
  (endpoint, delivery, { result }) => {
    const { made, status: outcome, attempt } = result;
    const { error_class: errorClass, duration_ms: durationMs, at } = made;
    metrics.webhookAttempts.inc({ outcome, error_class: errorClass ?? "none" });
    const traceparent = delivery.traces?.[0];
    metrics.webhookSeconds.observe({}, durationMs / 1000, traceparent);
    countUsage(endpoint.tenant_id, { webhook_requests: 1, bytes: Buffer.byteLength(delivery.payload) });
    const queuedMs = at.getTime() - delivery.created_at.getTime();
    if (attempt === 1) metrics.webhookQueueSeconds.observe({}, queuedMs / 1000, traceparent);
    const sample = { succeeded: errorClass === null, errorClass, durationMs, at };
    if (delivery.event_type !== "webhook.test") stats.add(endpoint._id, sample);
    requestLog.note(endpoint, delivery, { result, queuedMs });
  };
