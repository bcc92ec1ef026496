import { timeOf } from "#core/domain/clock.ts";
import type {
  Recovery,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryDetail,
} from "#core/schema/webhooks/webhook.ts";
import type { AttemptRow, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { ListedDelivery } from "#core/storage/webhooks/history.ts";
import type { RecoveryRow } from "#core/storage/webhooks/webhooks.ts";

export const recoveryView = (row: RecoveryRow): Recovery => ({
  id: row.id,
  status: row.completed_at === null ? "running" : "completed",
  since: row.since.toISOString(),
  until: row.until.toISOString(),
  replayed: row.replayed,
  requested_at: row.requested_at.toISOString(),
  completed_at: timeOf(row.completed_at),
});

/** A delivery as lists show it. */
export const webhookDeliveryView = (row: ListedDelivery): WebhookDelivery => {
  const last = row.attempts.at(-1);
  return {
    id: row._id,
    endpoint_id: row.endpoint_id,
    event_type: row.event_type,
    event_id: row.event_id,
    subject_id: row.subject_id,
    attempt: row.attempt,
    status: row.status,
    response_status: last?.response_status ?? null,
    response_body_excerpt: last?.response_body_excerpt ?? null,
    error: row.error ?? last?.error ?? null,
    error_class: last?.error_class ?? null,
    duration_ms: last?.duration_ms ?? null,
    next_retry_at: row.status === "failed" ? timeOf(row.due_at) : null,
    delivered_at: timeOf(row.delivered_at),
    replay_of: row.replay_of,
    created_at: row.created_at.toISOString(),
  };
};

/** A delivery with what it says. */
export const webhookDeliveryDetailView = (row: WebhookDeliveryRow): WebhookDeliveryDetail => ({
  ...webhookDeliveryView(row),
  payload: JSON.parse(row.payload) as Record<string, unknown>, // sound: our own text of an envelope
});

export const webhookAttemptView = (row: AttemptRow): WebhookAttempt => ({
  at: row.at.toISOString(),
  response_status: row.response_status,
  duration_ms: row.duration_ms,
  error_class: row.error_class,
  error: row.error,
  response_body_excerpt: row.response_body_excerpt,
});
