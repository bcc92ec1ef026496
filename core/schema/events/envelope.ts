import { eventTypes } from "./catalogue.ts";

/** The kinds of events. Source: docs/reference/events.md#kinds. */
export type EventKind = keyof typeof eventTypes;
export const eventKinds = Object.keys(eventTypes) as readonly EventKind[]; // sound: they are its keys

/** The kinds that an endpoint may ask for: all but the test event. Source: docs/reference/events.md#kinds. */
export const webhookEventKinds: EventKind[] = eventKinds.filter((kind) => kind !== "webhook.test");

/** What an endpoint receives: the Standard Webhooks members and ours. Source: docs/reference/events.md#envelope. */
export type EventEnvelope = {
  id: string;
  type: EventKind;
  /** When it happened, ISO 8601. */
  timestamp: string;
  app_id: string;
  subject_id: string | null;
  api_version: "1.0";
  data: Record<string, unknown>;
  /** Texts or members of `data` were left out, because it was too large. */
  truncated?: true;
};

/** Several events in one request. Source: docs/reference/webhooks.md#batches. */
export type BatchEnvelope = {
  /** `bat_…`, follows from its events' ids. */
  id: string;
  type: "batch";
  timestamp: string;
  app_id: string;
  events: EventEnvelope[];
};

/** An event as it waits in the outbox of the document that it follows from. Its id never changes. */
export type OutboxEvent = EventEnvelope;
