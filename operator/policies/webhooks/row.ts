import type { Resource } from "#core/runtime/kube/objects.ts";
import type { WebhookSpec } from "#core/schema/webhooks/resource.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { healthAnew, type WebhookRow, webhookDefaults } from "#core/storage/webhooks/webhooks.ts";

type Webhook = Resource<WebhookSpec, { enabledFor?: string }>;

/** The annotation by which a person has an endpoint enabled again that the service disabled. */
export const enableAnnotation = "herald.dev/enable";

export const suspendedReason = "suspended by its resource";

/** Members of an endpoint's document that its resource decides, but for its secrets. */
export const membersOf = ({ spec }: Webhook, app: AppRow): Partial<WebhookRow> => ({
  tenant_id: app.tenant_id,
  app_id: app._id,
  url: spec.url,
  description: spec.description ?? null,
  events: [...spec.events].sort(),
  event_names: [...(spec.eventNames ?? [])].sort(),
  audience: spec.audience ?? null,
  batch: spec.batch,
  filters: spec.filters ?? null,
  body_template: spec.bodyTemplate ?? null,
  body_content_type: spec.bodyContentType,
  paused: spec.paused,
  rate_per_second: spec.ratePerSecond ?? null,
  max_in_flight: spec.maxInFlight,
  timeout_ms: spec.timeoutMilliseconds,
});

/**
 * The service decides an endpoint's state, with two exceptions. The resource suspends it; and the state begins anew
 * when the resource resumes it, has another url, or somebody asks for it by the annotation.
 */
export const stateOf = (webhook: Webhook, row: WebhookRow | null): Partial<WebhookRow> => {
  const { spec } = webhook;
  if (spec.suspended) return { status: "disabled", disabled_reason: suspendedReason };
  const isResumed = row?.disabled_reason === suspendedReason;
  const isEnabled = row?.status === "disabled" && isEnableDue(webhook);
  return row === null || row.url !== spec.url || isResumed || isEnabled ? healthAnew : {};
};

/** Whether a person asked, by the annotation, for what has not been done yet. */
const isEnableDue = (webhook: Webhook): boolean => {
  const asked = enableAskedFor(webhook);
  return asked !== undefined && asked !== webhook.status?.enabledFor;
};

/** As much of the annotation's value as the status holds. */
export const enableAskedFor = ({ metadata }: Pick<Webhook, "metadata">): string | undefined =>
  metadata.annotations?.[enableAnnotation]?.slice(0, 253) || undefined;

/** Members that an endpoint's document begins with; later they are others' to change. */
export const beginning = (now: Date): Partial<WebhookRow> => ({
  ...webhookDefaults,
  ...healthAnew,
  last_success_at: null,
  last_failure_at: null,
  created_at: now,
});

/** What of a document decides a pass: all but what dispatchers write of an endpoint while it is in use. */
export const deciding = (row: WebhookRow): [string, unknown][] =>
  Object.entries(row).filter(([member]) => !ofDispatchers.has(member));

const ofDispatchers: ReadonlySet<string> = new Set<keyof WebhookRow>([
  "due_at",
  "fence",
  "recovery",
  "failure_count",
  "streak_since",
  "last_success_at",
  "last_failure_at",
  "updated_at",
]);
