import { isDeepStrictEqual } from "node:util";
import type { WebhookStatus } from "#core/schema/webhooks/resource.ts";
import type { HealthWindow } from "#core/schema/webhooks/webhook.ts";

export type Health = NonNullable<WebhookStatus["health"]>;

/**
 * The status members about an endpoint's last hour; absent without requests. The numbers are coarse, and change at most
 * once a minute, so that a busy endpoint does not make the API server busy.
 */
export const healthStatus = (hour: HealthWindow, before: Health | undefined, now: Date): Health | undefined => {
  if (before !== undefined && now.getTime() - Date.parse(before.updatedAt) < leastMs) return before;
  if (hour.success_rate === null) return undefined;
  const health: Health = {
    successRate1h: `${Math.floor(hour.success_rate * 100)}%`,
    ...(hour.p99_ms !== null && { p99Milliseconds1h: Math.round(hour.p99_ms) }),
    ...(hour.last_error_class !== null && { lastErrorClass: hour.last_error_class }),
    updatedAt: now.toISOString(),
  };
  return isDeepStrictEqual({ ...health, updatedAt: before?.updatedAt }, before) ? before : health;
};

const leastMs = 60_000;
