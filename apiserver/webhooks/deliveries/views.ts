import { showAs } from "#core/schema/json/show.ts";
import {
  Recovery,
  WebhookAttempt,
  WebhookDelivery,
  type WebhookDeliveryDetail,
} from "#core/schema/webhooks/webhook.ts";
import type { AttemptRow, WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { ListedDelivery } from "#core/storage/webhooks/history.ts";
import type { RecoveryRow } from "#core/storage/webhooks/webhooks.ts";

export const recoveryView = (row: RecoveryRow): Recovery =>
  showAs(Recovery, { ...row, status: row.completed_at === null ? "running" : "completed" });

/** A delivery as lists show it. */
export const webhookDeliveryView = (row: ListedDelivery): WebhookDelivery => {
  const last = row.attempts.at(-1);
  return showAs(WebhookDelivery, {
    ...last,
    ...row,
    id: row._id,
    error: row.error ?? last?.error,
    next_retry_at: row.status === "failed" ? row.due_at : null,
  });
};

/** A delivery with what it says. */
export const webhookDeliveryDetailView = (row: WebhookDeliveryRow): WebhookDeliveryDetail => ({
  ...webhookDeliveryView(row),
  payload: JSON.parse(row.payload) as Record<string, unknown>, // sound: our own text of an envelope
});

export const webhookAttemptView = (row: AttemptRow): WebhookAttempt => showAs(WebhookAttempt, row);
