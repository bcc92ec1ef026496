import type { Clock } from "#core/domain/clock.ts";
import { disabledReasons } from "#core/domain/webhooks/health.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { WebhookRow, WebhookWork } from "#core/storage/webhooks/webhooks.ts";

export type DisableDeps = {
  endpoints: Pick<WebhookWork, "disable"> & { announce: (endpoint: Pick<WebhookRow, "_id" | "app_id">) => void };
  log: Log;
  clock: Clock;
};

/** Disables an endpoint whose address answered 410. Never rejects: when it fails, the next request is answered 410 again. */
export const disableGone = async ({ endpoints, log, clock }: DisableDeps, row: WebhookRow): Promise<void> => {
  const { _id: endpoint, app_id: app } = row;
  try {
    if (!(await endpoints.disable(row, disabledReasons.gone, clock.now()))) return;
    endpoints.announce(row);
    log.info({ app, endpoint, reason: disabledReasons.gone }, "webhook.disabled");
  } catch (err) {
    log.warn({ err, endpoint }, "webhook.not_disabled");
  }
};
