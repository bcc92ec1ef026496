import type { Message } from "../schema/message.ts";
import type { MessageRow } from "./messages.ts";

/** A message as the REST interface shows it: every member of spec 2.2, always. */
export const messageView = (row: MessageRow): Message => ({
  id: row._id,
  app_id: row.app_id,
  source: row.source,
  status: row.status,
  idempotency_key: row.idempotency_key ?? null,
  name: row.name,
  content: row.content,
  target: row.target,
  options: row.options,
  labels: row.labels,
  category: row.category,
  template_id: null,
  campaign_id: null,
  variants: null,
  counts: row.counts,
  requested_by: row.requested_by,
  error: row.error,
  scheduled_for: timeOf(row.scheduled_for),
  started_at: timeOf(row.started_at),
  completed_at: timeOf(row.completed_at),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** `data` of the events `message.*`: the message and the references that every event carries. Source: decisions 10.2. */
export const messageEventData = (row: MessageRow): Record<string, unknown> => ({
  message_id: row._id,
  journey_id: null,
  delivery_id: null,
  subscription_id: null,
  user_id: null,
  external_id: null,
  channel: null,
  ...messageView(row),
});

/** An instant as the interface writes it. */
export const timeOf = (at: Date | null | undefined): string | null => at?.toISOString() ?? null;
