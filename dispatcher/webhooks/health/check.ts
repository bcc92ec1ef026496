import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { disabledReasons, isToDisable, noticeDue, type WebhookNotice } from "#core/domain/webhooks/health.ts";
import { isPassing } from "#core/queue/jetstream/passing.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics/dispatcher.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import type { WebhookFailures } from "#core/storage/webhooks/failures.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Mailed } from "../../work/mailer.ts";

export type HealthCheckDeps = {
  failures: WebhookFailures;
  /** Mails the owner. */
  mail: (row: WebhookRow, notice: WebhookNotice) => Promise<Mailed>;
  endpoints: { announce: (endpoint: Pick<WebhookRow, "_id" | "app_id">) => void };
  /** Whether this process is the one that checks now. */
  isOurs: () => boolean;
  /** Whether another one is, as far as this process has seen. False where it only may have lost its turn, as after a standstill. */
  isElsewhere: () => boolean;
  metrics: Pick<DispatcherMetrics, "webhookEndpoints">;
  /** Counts an endpoint that could not be checked. */
  setAside: () => void;
  clock: Clock;
  log: Log;
};

const everyMs = 60_000;
const pageRows = 100;
const giveUpMs = 7 * dayMs;

/**
 * Checks endpoints that go on failing, once a minute, in one process: their owners are mailed at the change and after
 * 7 days; after 14 days they are disabled, and their owners mailed again.
 * Source: docs/reference/webhooks.md#owner-mails.
 */
export const healthCheck = (deps: HealthCheckDeps): Part =>
  passes({
    name: "webhook health",
    everyMs,
    pass: (stop) => pass(deps, stop),
    onError: (err) => deps.log.warn({ err }, "webhook_health.not_checked"),
  });

/** One pass over every endpoint that fails; stops between endpoints when the program does. */
export const pass = async (deps: HealthCheckDeps, stop: AbortSignal): Promise<void> => {
  const { failures, metrics, clock } = deps;
  if (deps.isElsewhere()) return metrics.webhookEndpoints.reset(); // another process shows them
  if (!deps.isOurs()) return;
  const server = { isAway: false };
  await eachRow(deps, "failing", stop, (row) =>
    isToDisable(row, clock.now()) ? disable(deps, row) : notify(deps, row, server),
  );
  await eachRow(deps, "disabled", stop, (row) => notify(deps, row, server));
  for (const [state, count] of Object.entries(await failures.states())) metrics.webhookEndpoints.set({ state }, count);
};

/** An endpoint that fails although the stores answer is set aside: the next pass comes to it again. */
const eachRow = async (
  { failures, setAside, log }: HealthCheckDeps,
  status: "failing" | "disabled",
  stop: AbortSignal,
  handle: (row: WebhookRow) => Promise<void>,
): Promise<void> => {
  let page: WebhookRow[] = [];
  do {
    page = await failures.page(status, { after: page.at(-1)?._id ?? "", limit: pageRows });
    for (const row of page) {
      if (stop.aborted) return;
      await handle(row).catch((err: unknown) => {
        if (isPassing(err)) throw err;
        log.error({ endpoint: row._id, err }, "webhook_health.set_aside");
        setAside();
      });
    }
  } while (page.length === pageRows);
};

/** The endpoint's queue ends what waits for it; its owner is mailed with those of the other disabled ones. */
const disable = async (deps: HealthCheckDeps, row: WebhookRow): Promise<void> => {
  const reason = disabledReasons.failing;
  const disabled = await deps.failures.disable(row, reason, deps.clock.now());
  if (disabled === null) return; // it answered meanwhile, or its owner changed it
  deps.log.info({ tenant: row.tenant_id, app: row.app_id, endpoint: row._id, reason }, "webhook.disabled");
  deps.endpoints.announce(row); // so that its owner looks at it now; otherwise within a minute
};

/** Mails the owner the notice that is due. It is noted afterwards, so that a kill in between repeats a mail and loses none. */
const notify = async (deps: HealthCheckDeps, row: WebhookRow, server: { isAway: boolean }): Promise<void> => {
  const notice = noticeDue(row, deps.clock.now());
  if (notice === null || server.isAway || !deps.isOurs()) return;
  const mailed = await deps.mail(row, notice);
  server.isAway = mailed === "server_away";
  if (mailed === "done" || isTooLate(row, deps.clock.now())) await deps.failures.noteNotice(row, notice);
};

/** No more mail is sent to a mailbox that takes none for a week after the endpoint was disabled. */
const isTooLate = ({ status, updated_at: at }: WebhookRow, now: Date): boolean =>
  status === "disabled" && now.getTime() - at.getTime() > giveUpMs;
