import type { SendableChannel } from "../domain/channels.ts";
import type { OutboxEvent } from "../schema/event.ts";
import type { Content, Options, Target } from "../schema/notification.ts";
import type { CollectionSpec } from "./collection.ts";
import { dueIndex, type Wakeable } from "./wake.ts";

export const messageStatuses = ["queued", "processing", "completed", "cancelled", "failed"] as const;
export type MessageStatus = (typeof messageStatuses)[number];
export const messageSources = ["campaign", "api", "journey", "test"] as const;
export type MessageSource = (typeof messageSources)[number];

/** The fourteen counters of a message. Source: spec 2.2, decisions 7.9. */
export const countKeys = [
  "targeted",
  "suppressed",
  "sent",
  "delivered",
  "failed",
  "errored",
  "expired",
  "opened",
  "clicked",
  "converted",
  "bounced",
  "complained",
  "unsubscribed",
  "sms_segments",
] as const;
export type Counts = Partial<Record<(typeof countKeys)[number], number>>;

/**
 * A notification as accepted: one document, written once, then moved by whoever holds its lease.
 * `due_at` is its timer (`send_after`) while queued and its safety net while processing; null when it has ended
 * and `outbox` is empty.
 */
export type MessageRow = Wakeable & {
  _id: string;
  tenant_id: string;
  app_id: string;
  /** The tenant's plan when accepted: the stream that its hints go to. */
  plan: string;
  source: MessageSource;
  status: MessageStatus;
  /** Absent (not null) without a key, so that the unique index leaves the document out. */
  idempotency_key?: string;
  /** SHA-256 of the canonical body, hex. */
  fingerprint: string;
  /** The reply of the accept, for replays. */
  accepted: { recipients_estimate: number; external_id_missing: string[] };
  name: string | null;
  labels: string[];
  category: string | null;
  content: Content;
  target: Target;
  /** The channels it goes over, decided at accept: those asked for, else those that have content and an account. */
  channels: SendableChannel[];
  options: Options;
  counts: Counts;
  requested_by: { type: "api_key" | "account" | "system"; id?: string };
  error: string | null;
  /** Deliveries reserved against the monthly quota at accept; null when the plan has none. */
  reserved: { month: string; count: number } | null;
  /** Whether the audience has been read to its end. */
  planned: boolean;
  scheduled_for: Date | null;
  started_at: Date | null;
  completed_at: Date | null;
  created_at: Date;
  updated_at: Date;
  /** Events of this document that may not have been published yet. */
  outbox: OutboxEvent[];
  /** W3C trace context of the request that made it. */
  traceparent: string | null;
};

export const messageCollection: CollectionSpec = {
  name: "messages",
  indexes: [
    {
      key: { app_id: 1, idempotency_key: 1 },
      name: "idempotency",
      unique: true,
      partialFilterExpression: { idempotency_key: { $exists: true } },
    },
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, status: 1, _id: -1 }, name: "list_by_status" },
    { key: { app_id: 1, labels: 1, _id: -1 }, name: "list_by_label" },
    dueIndex,
  ],
};
