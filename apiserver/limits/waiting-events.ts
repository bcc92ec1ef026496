import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import { usualWaitingMegabytes } from "#core/schema/plans/resource.ts";
import type { EventBatches } from "#core/storage/events/batches.ts";
import type { Caller } from "../access/caller.ts";
import { quotaExceeded } from "./quota-exceeded.ts";

export type WaitingEventsDeps = {
  batches: Pick<EventBatches, "waiting">;
  metrics: Pick<ApiserverMetrics, "customEvents" | "waitingEventBytes">;
  log: Log;
  /** `performance.now()` when left out. */
  nowMs?: () => number;
};

export type WaitingEvents = ReturnType<typeof waitingEvents>;

const everyMs = 1_000;
const restShare = 4; // a count that takes long is followed by a rest of so many times as long
const retryAfterSeconds = 5;
const usualBytes = usualWaitingMegabytes * 1_000_000;

/**
 * Bounds the events of an organisation that wait in the store. They are counted each second while some wait or come; when
 * they cannot be counted, nothing is refused. Source: docs/decisions/0237.
 */
export const waitingEvents = ({ batches, metrics, log, nowMs = () => performance.now() }: WaitingEventsDeps) => {
  let counted: ReadonlyMap<string, number> = new Map();
  let isAsked = false;
  let restUntilMs = 0;
  const show = (bytes: ReadonlyMap<string, number>): void => {
    counted = bytes;
    metrics.waitingEventBytes.set([...bytes.values()].reduce((sum, one) => sum + one, 0));
  };
  const count = async (): Promise<void> => {
    if ((!isAsked && counted.size === 0) || nowMs() < restUntilMs) return;
    isAsked = false;
    const beganMs = nowMs();
    show(await batches.waiting());
    restUntilMs = nowMs() + restShare * (nowMs() - beganMs);
  };
  return {
    ...passes({
      name: "waiting events",
      everyMs,
      pass: count,
      onError: (err) => {
        log.warn({ err }, "waiting_events.not_counted");
        show(new Map());
      },
    }),

    /** Throws when too many events of the caller's organisation wait for these, too. @throws AppError HS_QUOTA_EXCEEDED */
    requireRoom: ({ tenant, plan }: Pick<Caller, "tenant" | "plan">, events: readonly object[]): void => {
      isAsked = true;
      const used = counted.get(tenant._id) ?? 0;
      const limit = plan.waiting_event_bytes ?? usualBytes;
      if (used < limit) return;
      metrics.customEvents.inc({ outcome: "no_room" }, events.length);
      const needed = Buffer.byteLength(JSON.stringify(events));
      const message = "too many events of this organisation wait to be published";
      throw quotaExceeded(message, { metric: "waiting_event_bytes", limit, used, needed, retryAfterSeconds });
    },
  };
};
