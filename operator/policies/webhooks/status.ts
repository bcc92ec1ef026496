import type { Resource } from "#core/runtime/kube/objects.ts";
import type { WebhookSpec, WebhookStatus } from "#core/schema/webhooks/resource.ts";
import type { HealthWindow } from "#core/schema/webhooks/webhook.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { type Finding, refused } from "../conditions.ts";
import { healthStatus } from "./health.ts";
import { enableAnnotation, enableAskedFor, suspendedReason } from "./row.ts";

type Input = {
  webhook: Resource<WebhookSpec, WebhookStatus>;
  row: Partial<WebhookRow>;
  /** How the requests of the last hour went. */
  hour: HealthWindow;
  now: Date;
};

/** The status members of an endpoint's own. */
export const statusOf = ({ webhook, row, hour, now }: Input): Partial<WebhookStatus> => {
  const health = healthStatus(hour, webhook.status?.health, now);
  const enabledFor = enableAskedFor(webhook);
  return {
    ...(row.app_id !== undefined && { appId: row.app_id }),
    state: row.status ?? "active",
    ...(row.disabled_reason && { disabledReason: row.disabled_reason }),
    ...(row.failing_since && { failingSince: row.failing_since.toISOString() }),
    ...(health && { health }),
    ...(row.previous_secret && { previousSecretValidUntil: row.previous_secret.expires_at.toISOString() }),
    ...(enabledFor !== undefined && { enabledFor }),
  };
};

/** What others found out about an endpoint, e.g. that it answered 410, is reported and not undone. */
export const disabled = ({ status, disabled_reason: reason }: Partial<WebhookRow>): { ready?: Finding } =>
  status === "disabled" && reason && reason !== suspendedReason
    ? { ready: refused("EndpointDisabled", `the service disabled the endpoint: ${reason}; ${remedy}`) }
    : {};

const remedy = `another url, or a new value of the annotation ${enableAnnotation}, enables it`;
