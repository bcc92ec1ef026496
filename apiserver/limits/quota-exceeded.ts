import { AppError } from "#core/errors.ts";
import { mostKeys } from "#core/schema/api-keys/api-key.ts";
import { exportLimits } from "#core/schema/exports/export.ts";
import { importLimits } from "#core/schema/imports/import.ts";
import { inAppBounds } from "#core/schema/in-app-messages/content.ts";
import { mostChannels } from "#core/schema/live-activities/channel.ts";
import { activityLimits } from "#core/schema/live-activities/type.ts";
import { segmentLimits } from "#core/schema/segments/segment.ts";
import { templateBounds } from "#core/schema/templates/template.ts";
import { warehouseLimits } from "#core/schema/warehouse/export.ts";
import { mostEndpoints } from "#core/storage/webhooks/endpoints.ts";

/** What limits each quota, and when what is used of it begins anew, in Markdown: docs/reference/limits.md#quotas is made of them. */
export const quotas = {
  messages_per_month: {
    limit: "the plan's `messagesPerMonth`, of a calendar month in UTC",
    resets: "at the end of the month",
  },
  messages_per_day: {
    limit: "`HERALD_FIRST_DAY_MESSAGES`, in an organisation's first 24 hours, on any plan",
    resets: "when they are over",
  },
  subscribers: { limit: "the plan's `subscribers`, over all apps", resets: "never" },
  apps: { limit: "the plan's `apps`", resets: "never" },
  api_keys: { limit: `${mostKeys} of an organisation, those of resources among them`, resets: "never" },
  suppressions: { limit: "the plan's `suppressions`, of an app", resets: "never" },
  webhook_endpoints: {
    limit: `the plan's \`webhookEndpoints\`, of an app, at most ${mostEndpoints}`,
    resets: "never",
  },
  segments: { limit: `${segmentLimits.segments.toLocaleString("en")} of an app`, resets: "never" },
  live_activity_types: { limit: `${activityLimits.types} of an app`, resets: "never" },
  live_activity_channels: { limit: `${mostChannels.toLocaleString("en")} of an app`, resets: "never" },
  templates: { limit: `${templateBounds.templates.toLocaleString("en")} of an app`, resets: "never" },
  in_app_messages: { limit: `${inAppBounds.messages.toLocaleString("en")} of an app`, resets: "never" },
  active_in_app_messages: { limit: `${inAppBounds.active} of an app`, resets: "never" },
  warehouse_exports: { limit: `${warehouseLimits.exports} of an app`, resets: "never" },
  imports_pending: { limit: `${importLimits.pending} of an app that wait`, resets: "when one of them ends" },
  waiting_event_bytes: {
    limit:
      "the plan's `waitingEventMegabytes`, of an organisation's events that JetStream has not taken: of `POST …/events` alone",
    resets: "as they are published; `Retry-After` says when to try again",
  },
  exports_pending: { limit: `${exportLimits.pending} of an app that wait`, resets: "when one of them ends" },
} as const satisfies Record<string, { limit: string; resets: string }>;

export type QuotaMetric = keyof typeof quotas;

export type Exceeded = {
  metric: QuotaMetric;
  limit: number;
  used: number;
  /** What was asked for beyond `used`. */
  needed: number;
  /** When `used` begins anew; left out where only removing something helps. */
  resets?: { at: Date; now: Date };
  /** When there may be room again, where nobody knows. */
  retryAfterSeconds?: number;
};

/** A quota is passed: what it is, what was needed, and when it resets. Source: docs/reference/limits.md#quotas. */
export const quotaExceeded = (
  message: string,
  { metric, limit, used, needed, resets, retryAfterSeconds }: Exceeded,
): AppError =>
  new AppError("HS_QUOTA_EXCEEDED", message, {
    metric,
    limit,
    used,
    needed,
    resets_at: resets?.at.toISOString() ?? null,
    ...(retryAfterSeconds !== undefined && { retry_after_seconds: retryAfterSeconds }),
    ...(resets !== undefined && { retry_after_seconds: secondsOf(resets) }),
  });

const secondsOf = ({ at, now }: { at: Date; now: Date }): number =>
  Math.max(1, Math.ceil((at.getTime() - now.getTime()) / 1000));
