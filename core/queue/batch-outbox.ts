import type { Collection } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { falseWhenAway } from "../errors.ts";
import { later } from "../runtime/batching/later.ts";
import type { QueueMetrics } from "../runtime/metrics/queue.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import type { EventBatchRow, StoredEvent } from "../storage/events/batch-row.ts";
import type { EventBatches, TakeBatch } from "../storage/events/batches.ts";
import type { EventClaims } from "../storage/events/claims.ts";
import { sweepAfter } from "../storage/work/due.ts";
import type { EventTextPublisher, Offered } from "./events.ts";
import { clearing } from "./outbox.ts";
import { type AnyTimerSource, timerSource } from "./timers.ts";

export type BatchOutbox = Part & {
  /** Publishes a batch that is not stored; gives the events that JetStream has not acknowledged. */
  offer: (row: EventBatchRow) => Promise<Offered<StoredEvent>>;
  /**
   * Publishes a stored batch and has it removed. False when JetStream does not take all of it now: it stays stored, and is
   * due again. `mayBeRepeated`: JetStream may have some of its events.
   */
  publish: (row: EventBatchRow, mayBeRepeated?: boolean) => Promise<boolean>;
  /**
   * Finishes a batch that a crash, or JetStream's absence, left behind; drops it if its change was never made. Nothing
   * happens when another process took it meanwhile.
   * @throws Unavailable when JetStream is away: the batch stays due, before those that came later
   */
  resume: (id: string, take: TakeBatch) => Promise<void>;
};

export type BatchOutboxDeps = {
  batches: Pick<EventBatches, "take" | "giveBack" | "isTrue" | "confirm" | "keepAudit" | "remove">;
  claims: Pick<EventClaims, "claimBatch">;
  events: EventTextPublisher;
  log: Log;
  metrics: QueueMetrics;
};

/** Publishes batches of events and removes them. Each step may run twice: consumers know an event by its id. */
export const batchOutbox = ({ batches, claims, events, log, metrics }: BatchOutboxDeps): BatchOutbox => {
  const done = later<string>({
    ...clearing,
    write: batches.remove,
    onError: (err, documents) => log.warn({ err, documents }, "event_batches.not_removed"), // the timer will
  });
  const offer = async (row: EventBatchRow, mayBeRepeated = false): Promise<Offered<StoredEvent>> => {
    const { tenant_id: tenantId, app_id: appId, traceparent } = row;
    let left = row.events;
    try {
      const offered = await events.offerTexts({ tenantId, appId }, row.events, { traceparent, mayBeRepeated });
      left = offered.left;
      return offered;
    } finally {
      metrics.outboxEvents.inc({ outcome: "published" }, row.events.length - left.length);
      metrics.outboxEvents.inc({ outcome: "kept" }, left.length);
    }
  };
  const publishDue = async (row: EventBatchRow, mayBeRepeated = false): Promise<boolean> => {
    let isPublished = false;
    try {
      await batches.keepAudit(row);
      const { left, away } = row.events.length === 0 ? nothing : await offer(row, mayBeRepeated);
      if (away !== null) throw away;
      isPublished = left.length === 0;
    } finally {
      if (!isPublished && row.change !== undefined) await batches.confirm(row._id); // it was made, or nobody would publish it
    }
    if (isPublished) await done.add(row._id);
    return isPublished;
  };
  const withoutRepeats = async (row: EventBatchRow): Promise<EventBatchRow> => {
    const others = await claims.claimBatch(row);
    return others.size === 0 ? row : { ...row, events: row.events.filter(({ id }) => !others.has(id)) };
  };
  const finish = async (row: EventBatchRow): Promise<void> => {
    if (await batches.isTrue(row)) return void (await publishDue(await withoutRepeats(row), true));
    log.info({ batch: row._id, events: row.events.length }, "event_batch.dropped");
    await done.add(row._id);
  };
  const resume: BatchOutbox["resume"] = async (id, take) => {
    const row = await batches.take(id, take);
    if (row === null) return;
    try {
      await finish(row);
    } catch (error) {
      await batches.giveBack(id, take).catch(() => undefined); // it is due again by itself
      throw error;
    }
  };
  return {
    name: "event batches",
    start: async () => undefined,
    stop: done.stop,
    offer: (row) => offer(row),
    publish: (row, mayBeRepeated) => publishDue(row, mayBeRepeated).catch(falseWhenAway),
    resume,
  };
};

/** Of a change that no event reports, and of a batch whose events others had before. */
const nothing: Offered<StoredEvent> = { left: [], away: null };

/**
 * Publishes batches that were not removed in time; all dispatchers do, the tenants' in turn. Eight are read at a time, of up
 * to 3 MB each.
 */
export const eventBatchTimer = (
  batches: Collection<EventBatchRow>,
  { resume }: Pick<BatchOutbox, "resume">,
  clock: Clock,
): AnyTimerSource =>
  timerSource({
    name: "event batches",
    collection: batches,
    select: [],
    inTurn: true,
    handle: async ({ _id, due_at: dueAt }) => {
      if (dueAt !== null) await resume(_id, { dueAt, until: sweepAfter(clock.now()) });
    },
    atOnce: 8,
    everyMs: 1_000,
  });
