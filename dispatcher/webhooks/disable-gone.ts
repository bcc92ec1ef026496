import type { Clock } from "#core/domain/clock.ts";
import { disabledReasons } from "#core/domain/webhook-health.ts";
import type { Log } from "#core/runtime/log.ts";
import type { HeldWebhook, WebhookWork } from "#core/storage/webhooks.ts";

export type DisableDeps = {
  endpoints: Pick<WebhookWork, "disable">;
  announce: (endpointId: string) => void;
  log: Log;
  clock: Clock;
};

/** Disables an endpoint that answered 410. Never rejects: should it fail, its next request is answered 410 again. */
export const disableGone = async (
  { endpoints, announce, log, clock }: DisableDeps,
  held: HeldWebhook,
): Promise<void> => {
  const { _id: endpoint, app_id: app } = held.row;
  try {
    await endpoints.disable(held, disabledReasons.gone, clock.now());
    announce(endpoint);
    log.info({ app, endpoint, reason: disabledReasons.gone }, "webhook.disabled");
  } catch (err) {
    log.warn({ err, endpoint }, "webhook.not_disabled");
  }
};
