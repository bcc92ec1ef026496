import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Sent } from "../send/send.ts";
import type { EndpointStats } from "./stats.ts";

export type ObserveDeps = {
  stats: Pick<EndpointStats, "add">;
  metrics: Pick<DispatcherMetrics, "webhookAttempts" | "webhookSeconds" | "webhookQueueSeconds">;
  log: Log;
};

/** Takes note of a request that was made. */
export type Observe = (endpoint: WebhookRow, delivery: WebhookDeliveryRow, sent: Sent) => void;

/** One line, one measurement and, but for tests, one sample of the endpoint's health for each request; never its payload. */
export const observe =
  ({ stats, metrics, log }: ObserveDeps): Observe =>
  ({ _id: endpoint, app_id: app, tenant_id: tenant }, delivery, { result }) => {
    const { made, status: outcome, attempt, due_at: nextAt } = result;
    const { error_class: errorClass, duration_ms: durationMs, response_status: status, error, at } = made;
    metrics.webhookAttempts.inc({ outcome, error_class: errorClass ?? "none" });
    metrics.webhookSeconds.observe(durationMs / 1000);
    const queuedMs = at.getTime() - delivery.created_at.getTime();
    if (attempt === 1) metrics.webhookQueueSeconds.observe(queuedMs / 1000);
    const kind = delivery.event_type;
    if (kind !== "webhook.test") stats.add(endpoint, { succeeded: errorClass === null, errorClass, durationMs, at });
    const facts = { tenant, app, endpoint, delivery: delivery._id, eventId: delivery.event_id, kind, attempt, outcome };
    log.info({ ...facts, status, durationMs, queuedMs, errorClass, error, nextAt }, "webhook.attempted");
  };
