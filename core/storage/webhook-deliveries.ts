import type { EventEnvelope } from "../schema/event.ts";
import type { CollectionSpec } from "./collection.ts";

/** One event on its way to one endpoint. `_id` follows from (endpoint, event), so that an event arrives once. */
export type WebhookDeliveryRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  subject_id: string | null;
  payload: EventEnvelope;
  status: "pending" | "success" | "failed" | "dead";
  /** Requests made. */
  attempt: number;
  /** When the next request is due; null when it has ended. */
  due_at: Date | null;
  response_status: number | null;
  response_body_excerpt: string | null;
  error: string | null;
  duration_ms: number | null;
  delivered_at: Date | null;
  created_at: Date;
};

/** Delivery history is kept this long. Source: spec part 8. */
export const webhookHistoryDays = 30;

export const webhookDeliveryCollection: CollectionSpec = {
  name: "webhook_deliveries",
  indexes: [
    {
      key: { endpoint_id: 1, due_at: 1, _id: 1 },
      name: "due",
      partialFilterExpression: { due_at: { $gt: new Date(0) } },
    },
    { key: { endpoint_id: 1, created_at: -1 }, name: "list" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: webhookHistoryDays * 86_400 },
  ],
};
