import { textWithin } from "#core/domain/events/text.ts";
import { derivedIdAt } from "#core/domain/ids.ts";
import { peopleOf } from "#core/domain/people/keys.ts";
import { shareOf } from "#core/domain/webhooks/shares.ts";
import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { BatchEnvelope, EventEnvelope } from "#core/schema/events/envelope.ts";
import { type WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { type StoredPeople, storedPeople } from "#core/storage/webhooks/people.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";

type Endpoint = Pick<WebhookRow, "_id" | "tenant_id" | "app_id">;

/** An event as every endpoint that wants it is sent it: its JSON is written once. */
export type Written = { event: EventEnvelope; text: string; people: StoredPeople; traces?: readonly string[] };

/** `traceparent` is of the message that the event came in; it is kept when that is traced. */
export const written = (event: EventEnvelope, traceparent: string | null = null): Written => ({
  event,
  text: textWithin(event),
  people: peopleOf(event),
  ...(isSampled(traceparent) && { traces: [traceparent] }),
});

/** A new delivery, due at once. The same endpoint and event always give the same id. */
export const deliveryOf = (
  endpoint: Endpoint,
  { event, text, people, traces }: Written,
  now: Date,
): WebhookDeliveryRow => ({
  ...blank(endpoint, { id: event.id, timestamp: event.timestamp, now }),
  event_type: event.type,
  subject_id: event.subject_id,
  payload: text,
  people,
  ...(traces !== undefined && { traces }),
});

/** A new delivery of several events in one request. */
export const batchDeliveryOf = (
  endpoint: Endpoint,
  { envelope, text, traces = [] }: { envelope: BatchEnvelope; text: string; traces?: readonly string[] },
  now: Date,
): WebhookDeliveryRow => {
  const kinds = new Set(envelope.events.map(({ type }) => type));
  const [only] = kinds;
  return {
    ...blank(endpoint, { id: envelope.id, timestamp: envelope.timestamp, now }),
    event_type: only !== undefined && kinds.size === 1 ? only : "batch", // docs/reference/webhooks.md#batches
    event_ids: envelope.events.map(({ id }) => id),
    subject_id: null,
    payload: text,
    people: storedPeople([...new Set(envelope.events.flatMap(peopleOf))]),
    ...(traces.length > 0 && { traces }),
  };
};

const blank = (
  { _id, tenant_id, app_id }: Endpoint,
  { id, timestamp, now }: { id: string; timestamp: string; now: Date },
): Omit<WebhookDeliveryRow, "event_type" | "subject_id" | "payload" | "people"> => ({
  _id: derivedIdAt("webhookDelivery", new Date(timestamp), _id, id),
  tenant_id,
  app_id,
  endpoint_id: _id,
  share: shareOf(_id),
  event_id: id,
  status: "pending",
  attempt: 0,
  attempts: [],
  error: null,
  due_at: now,
  delivered_at: null,
  replay_of: null,
  created_at: now,
});
