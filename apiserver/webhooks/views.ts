import { showAs } from "#core/schema/json/show.ts";
import { Webhook } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { recoveryView } from "./deliveries/views.ts";

/** An endpoint as the REST interface shows it: no secret and no header's value. */
export const webhookView = (row: WebhookRow, now: Date): Webhook =>
  showAs(Webhook, {
    ...row,
    id: row._id,
    event_filters: {
      ...(row.event_names.length > 0 && { event_names: row.event_names }),
      ...(row.audience && { audience: row.audience }),
    },
    header_names: row.headers.map(({ name }) => name),
    previous_secret_expires_at: previousExpiry(row, now),
    recovery: row.recovery && recoveryView(row.recovery),
  });

const previousExpiry = ({ previous_secret: previous }: WebhookRow, now: Date): Date | null =>
  previous !== null && previous.expires_at > now ? previous.expires_at : null;
