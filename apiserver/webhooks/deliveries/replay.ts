import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookHistory } from "#core/storage/webhooks/history.ts";
import { replayOf } from "#core/storage/webhooks/history.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { NarrowLimit } from "../../limits/narrow-limit.ts";

type ReplayDeps = {
  history: Pick<WebhookHistory, "insert">;
  /** Has the endpoint's owner look at it now; without it that does so within a minute. */
  announce: (endpoint: WebhookRow) => void;
  limit: NarrowLimit;
  clock: Clock;
};

/** A delivery and the endpoint that it is for. */
export type DeliveryOfEndpoint = { delivery: WebhookDeliveryRow; endpoint: WebhookRow };

/** Sends a delivery again as a new one of the same event, with an id of its own. */
export const replayDelivery =
  ({ history, announce, limit, clock }: ReplayDeps) =>
  async ({ delivery, endpoint }: DeliveryOfEndpoint, id: string): Promise<WebhookDeliveryRow> => {
    if (endpoint.status === "disabled") throw conflict("the webhook is disabled", endpoint.status);
    const now = clock.now();
    if (isToBeSent(delivery, now)) throw conflict("the delivery is still to be sent", delivery.status);
    await limit("webhooks.replay", delivery.app_id);
    const row = replayOf(delivery, id, now);
    await history.insert(row);
    announce(endpoint);
    return row;
  };

/** Now, or already under way: that changes neither its status nor when it is due. */
const isToBeSent = ({ status, due_at: dueAt }: WebhookDeliveryRow, now: Date): boolean =>
  status === "pending" || (dueAt !== null && dueAt <= now);

const conflict = (message: string, status: string): AppError => new AppError("HS_CONFLICT", message, { status });
