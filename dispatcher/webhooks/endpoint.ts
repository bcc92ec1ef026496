import type { Clock } from "#core/domain/clock.ts";
import { healthAfter, type WebhookHealth } from "#core/domain/webhook-health.ts";
import type { Settlement } from "#core/queue/worker.ts";
import { mapBounded } from "#core/runtime/bounded.ts";
import { gather } from "#core/runtime/gather.ts";
import type { Log } from "#core/runtime/log.ts";
import type { DispatcherMetrics } from "#core/runtime/metrics-dispatcher.ts";
import type { WebhookAttempt, WebhookDeliveries, WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { HeldWebhook, WebhookWork } from "#core/storage/webhooks.ts";
import { holding, holdMs } from "../hold.ts";
import type { SendWebhook, Sent } from "./send.ts";

export type EndpointDeps = {
  endpoints: Pick<WebhookWork, "take" | "extend" | "renew" | "saveHealth" | "settle" | "disable">;
  deliveries: Pick<WebhookDeliveries, "due" | "nextDueAt" | "record" | "bury">;
  send: SendWebhook;
  /** Rings an endpoint's doorbell. */
  ring: (endpointId: string) => Promise<unknown>;
  /** Tells every process that an endpoint changed. */
  announce: (endpointId: string) => void;
  /** Unique to this process. */
  holder: string;
  /** Aborts when the program is to stop: no further request is begun. */
  stopping: AbortSignal;
  metrics: Pick<DispatcherMetrics, "webhookAttempts" | "webhookSeconds">;
  log: Log;
  clock: Clock;
};

/** Requests to one endpoint under way at once. Source: decisions 10.3 (at most 20). */
const endpointConcurrency = 10;
const batchRows = 100;

/** After so long an endpoint goes to the back of the queue, so that slow ones leave room for others. */
const turnMs = 20_000;

/**
 * Answers a doorbell: sends what is due to one endpoint, under the endpoint's lease, then settles its `due_at`. Who finds
 * the lease taken may forget the doorbell: the holder notices the wake-up before it lets go.
 */
export const serveEndpoint =
  (deps: EndpointDeps) =>
  async (endpointId: string): Promise<Settlement> => {
    const held = await deps.endpoints.take(endpointId, { holder: deps.holder, ...hold(deps) });
    if (held !== null) await serve(deps, held);
    return { kind: "done" };
  };

const hold = ({ clock }: Pick<EndpointDeps, "clock">) => ({ now: clock.now(), holdMs });

const serve = async (deps: EndpointDeps, first: HeldWebhook): Promise<void> => {
  let held: HeldWebhook | null = first;
  const extend = async (): Promise<boolean> => {
    if (held === null) return false;
    const until = await deps.endpoints.extend(held, hold(deps));
    if (until !== null) held.until = until;
    return until !== null;
  };
  await holding({ extend, stopping: deps.stopping }, async (lost) => {
    const halt = AbortSignal.any([lost, AbortSignal.timeout(turnMs)]);
    while (held !== null) held = await serveBatch(deps, held, halt);
  });
};

/** One batch; the endpoint as it is held for the next one, or null when it was given back or lost. */
const serveBatch = async (deps: EndpointDeps, held: HeldWebhook, halt: AbortSignal): Promise<HeldWebhook | null> => {
  const { row } = held;
  if (row.status === "disabled") {
    await deps.deliveries.bury(row._id, "endpoint disabled");
    return rest(deps, held, { health: row, halt });
  }
  const due = await deps.deliveries.due(row._id, deps.clock.now(), batchRows);
  const sent = await sendAll(deps, held, { due, halt });
  if (sent.some(({ isGone }) => isGone)) return giveUp(deps, held);
  return rest(deps, held, { health: sent.reduce(afterSent(deps.clock), row), halt });
};

type Batch = { due: readonly WebhookDeliveryRow[]; halt: AbortSignal };

/** Sends a batch and stores the results as they come. What `halt` kept from being begun stays due. */
const sendAll = async (deps: EndpointDeps, { row }: HeldWebhook, { due, halt }: Batch): Promise<Sent[]> => {
  const sent: Sent[] = [];
  const record = gather({ write: recordAll(deps), most: batchRows, inFlight: 1 });
  const storing: Promise<unknown>[] = []; // at most a batch
  await mapBounded(due, endpointConcurrency, async (delivery) => {
    if (halt.aborted || sent.some(({ isGone }) => isGone)) return;
    const one = await deps.send(row, delivery, never);
    sent.push(one);
    observe(deps, row, one);
    const stored = record(one.attempt);
    stored.catch(() => undefined); // told below, when every request has ended
    storing.push(stored);
  });
  await Promise.all(storing);
  return sent;
};

const recordAll =
  ({ deliveries }: EndpointDeps) =>
  async (attempts: readonly WebhookAttempt[]): Promise<void[]> => {
    await deliveries.record(attempts);
    return attempts.map(() => undefined);
  };

/** A request is bounded by its own deadline and never cut off: its endpoint may have received it. */
const never = new AbortController().signal;

const observe = (
  { metrics, log }: EndpointDeps,
  { _id: endpoint, app_id: app }: HeldWebhook["row"],
  { attempt }: Sent,
): void => {
  const { _id: delivery, status: outcome, duration_ms: durationMs, response_status: status, error } = attempt;
  metrics.webhookAttempts.inc({ outcome });
  metrics.webhookSeconds.observe((durationMs ?? 0) / 1000);
  const facts = { app, endpoint, delivery, attempt: attempt.attempt, outcome, status, durationMs, error };
  log.debug(facts, "webhook.attempted");
};

const afterSent =
  (clock: Clock) =>
  (health: WebhookHealth, { attempt: { status } }: Sent): WebhookHealth =>
    healthAfter(health, { succeeded: status === "success", died: status === "dead", at: clock.now() });

const giveUp = async (deps: EndpointDeps, held: HeldWebhook): Promise<HeldWebhook | null> => {
  await deps.endpoints.disable(held, "gone", deps.clock.now());
  deps.announce(held.row._id);
  deps.log.info({ app: held.row.app_id, endpoint: held.row._id, reason: "gone" }, "webhook.disabled");
  return deps.endpoints.renew(held, hold(deps)); // the next batch finds it disabled
};

/** Gives the endpoint back until its next delivery is due; keeps it when that is now, or when it was woken meanwhile. */
const rest = async (
  deps: EndpointDeps,
  held: HeldWebhook,
  { health, halt }: { health: WebhookHealth; halt: AbortSignal },
): Promise<HeldWebhook | null> => {
  const { endpoints, deliveries, clock } = deps;
  const nextAt = await deliveries.nextDueAt(held.row._id);
  const isDue = nextAt !== null && nextAt <= clock.now();
  if (!isDue || halt.aborted) {
    if (await endpoints.settle(held, nextAt, health)) return isDue ? letOthers(deps, held) : null;
    return endpoints.renew(held, hold(deps));
  }
  await endpoints.saveHealth(held, health);
  return endpoints.renew(held, hold(deps));
};

/** More is due, but the turn is over: the endpoint queues up again. */
const letOthers = async ({ ring, stopping }: EndpointDeps, { row }: HeldWebhook): Promise<null> => {
  if (!stopping.aborted) await ring(row._id); // else `due_at` has another process called
  return null;
};
