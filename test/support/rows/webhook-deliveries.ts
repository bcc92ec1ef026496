import { derivedIdAt } from "#core/domain/ids.ts";
import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { AttemptRow, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";

/** An event that happened at an instant. */
export const anEnvelope = (over: Partial<EventEnvelope> = {}): EventEnvelope => ({
  id: "evt_1",
  type: "delivery.sent",
  timestamp: new Date().toISOString(),
  app_id: "app_1",
  subject_id: null,
  api_version: "1.0",
  data: { text: "hello" },
  ...over,
});

/** One request that failed. */
export const anAttempt = (over: Partial<AttemptRow> = {}): AttemptRow => ({
  at: new Date("2026-01-01T00:00:00Z"),
  response_status: 500,
  duration_ms: 12,
  error_class: "server_error",
  error: "answered 500",
  response_body_excerpt: "no",
  ...over,
});

/** A delivery of an event to an endpoint, as a dispatcher would have stored it; by default it has ended in vain. */
export const aWebhookDelivery = (
  event: EventEnvelope,
  over: Partial<WebhookDeliveryRow> & Pick<WebhookDeliveryRow, "endpoint_id" | "tenant_id">,
): WebhookDeliveryRow => ({
  _id: derivedIdAt("webhookDelivery", new Date(event.timestamp), over.endpoint_id, event.id),
  app_id: event.app_id,
  share: shareOf(over.endpoint_id),
  event_id: event.id,
  event_type: event.type,
  subject_id: event.subject_id,
  payload: JSON.stringify(event),
  people: [],
  status: "dead",
  attempt: 1,
  attempts: [anAttempt()],
  error: null,
  due_at: null,
  delivered_at: null,
  replay_of: null,
  created_at: new Date(event.timestamp),
  ...over,
});
