import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { AppError, invalid, NotFound } from "#core/errors.ts";
import type { RecoverWebhook, ReplayWebhook } from "#core/schema/webhooks/webhook.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { webhookHistoryDays } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import type { RecoveryRow, WebhookRow } from "#core/storage/webhooks/webhooks.ts";

type RecoverDeps = {
  endpoints: Pick<WebhookEndpoints, "beginRecovery" | "find">;
  /** Has the endpoint's owner look at it now; without it that does so within a minute. */
  announce: (endpoint: WebhookRow) => void;
  clock: Clock;
};

/** Begins to send again what failed or was missed; the endpoint's owner does it page by page. */
export const recoverWebhook =
  (deps: RecoverDeps) =>
  (endpoint: WebhookRow, id: string, body: RecoverWebhook): Promise<RecoveryRow> =>
    begin(deps, endpoint, { id, kind: "recover", status: null, event_type: null, ...windowOf(body, deps.clock.now()) });

/** Begins to send again every delivery of a window that fits. */
export const replayMany =
  (deps: RecoverDeps) =>
  (endpoint: WebhookRow, id: string, body: ReplayWebhook): Promise<RecoveryRow> =>
    begin(deps, endpoint, {
      id,
      kind: "replay",
      status: body.status ?? null,
      event_type: body.event_type ?? null,
      ...windowOf(body, deps.clock.now()),
    });

type RecoveryRequest = Pick<RecoveryRow, "id" | "kind" | "status" | "event_type" | "since" | "until">;

const begin = async (
  { endpoints, announce, clock }: RecoverDeps,
  endpoint: WebhookRow,
  wanted: RecoveryRequest,
): Promise<RecoveryRow> => {
  const now = clock.now();
  const progress = { after: null, replayed: 0, requested_at: now, completed_at: null };
  const recovery = { ...wanted, ...progress };
  const changed = await endpoints.beginRecovery(endpoint, recovery);
  if (changed === null) {
    throw conflictOf(await endpoints.find(ofRow(endpoint), endpoint._id));
  }
  announce(endpoint);
  return recovery;
};

const conflictOf = (row: WebhookRow | null): AppError => {
  if (row === null) return new NotFound("webhook");
  if (row.status === "disabled") return new AppError("HS_CONFLICT", "the webhook is disabled", { status: "disabled" });
  return new AppError("HS_CONFLICT", "a recovery is running", { status: "running" });
};

const historyMs = webhookHistoryDays * dayMs;
const slackMs = 60_000; // between the caller's clock and ours

/** The window that is asked for; what lies ahead of now is left out, as nothing has happened there. */
const windowOf = ({ since, until }: RecoverWebhook, now: Date): { since: Date; until: Date } => {
  const [from, to] = [new Date(since), until === undefined ? now : new Date(until)];
  if (from.getTime() < now.getTime() - historyMs - slackMs) {
    throw invalid("since", `must be at most ${webhookHistoryDays} days ago: older deliveries are not kept`);
  }
  if (from > now) throw invalid("since", "must not be ahead of now");
  if (from > to) throw invalid("until", "must not be before since");
  return { since: from, until: to < now ? to : now };
};
