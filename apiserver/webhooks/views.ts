import { timeOf } from "#core/domain/clock.ts";
import type { Webhook } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { recoveryView } from "./deliveries/views.ts";

/** An endpoint as the REST interface shows it: no secret and no header's value. */
export const webhookView = (row: WebhookRow, now: Date): Webhook => ({
  id: row._id,
  app_id: row.app_id,
  url: row.url,
  description: row.description,
  events: row.events,
  event_filters: row.event_names.length === 0 ? {} : { event_names: row.event_names },
  batch: row.batch,
  status: row.status,
  paused: row.paused,
  disabled_reason: row.disabled_reason,
  failure_count: row.failure_count,
  failing_since: timeOf(row.failing_since),
  last_success_at: timeOf(row.last_success_at),
  last_failure_at: timeOf(row.last_failure_at),
  header_names: row.headers.map(({ name }) => name),
  previous_secret_expires_at: timeOf(previousExpiry(row, now)),
  body_template: row.body_template,
  body_content_type: row.body_content_type,
  filters: row.filters,
  rate_per_second: row.rate_per_second,
  max_in_flight: row.max_in_flight,
  timeout_ms: row.timeout_ms,
  recovery: row.recovery === null ? null : recoveryView(row.recovery),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

const previousExpiry = ({ previous_secret: previous }: WebhookRow, now: Date): Date | null =>
  previous !== null && previous.expires_at > now ? previous.expires_at : null;
