import { falseWhenAway } from "../errors.ts";
import { later } from "../runtime/batching/later.ts";
import type { QueueMetrics } from "../runtime/metrics/queue.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import type { EventBatchRow } from "../storage/events/batch-row.ts";
import type { EventBatches } from "../storage/events/batches.ts";
import type { EventTextPublisher } from "./events.ts";
import { clearing } from "./outbox.ts";
import { type AnyTimerSource, timerSource } from "./timers.ts";

export type BatchOutbox = Part & {
  /**
   * Publishes a stored batch, without the events that belong to another one, and has it removed. What JetStream does not
   * take now stays stored, and is due again.
   */
  publish: (row: EventBatchRow, others: ReadonlySet<string>) => Promise<void>;
  /**
   * Finishes a batch that a crash, or JetStream's absence, left behind; drops it if its change was never made.
   * @throws Unavailable when JetStream is away: the batch stays due, before those that came later
   */
  resume: (id: string) => Promise<void>;
};

export type BatchOutboxDeps = {
  batches: Pick<EventBatches, "find" | "claim" | "isTrue" | "confirm" | "remove">;
  events: EventTextPublisher;
  log: Log;
  metrics: QueueMetrics;
};

/** Publishes batches of events and removes them. Each step may run twice: consumers know an event by its id. */
export const batchOutbox = ({ batches, events, log, metrics }: BatchOutboxDeps): BatchOutbox => {
  const done = later<string>({
    ...clearing,
    write: batches.remove,
    onError: (err, documents) => log.warn({ err, documents }, "event_batches.not_removed"), // the timer will
  });
  const publishDue: BatchOutbox["publish"] = async (row, others) => {
    const own = others.size === 0 ? row.events : row.events.filter(({ id }) => !others.has(id));
    let isPublished = false;
    try {
      isPublished = await events.publishTexts({ tenantId: row.tenant_id, appId: row.app_id }, own, row.traceparent);
    } finally {
      metrics.outboxEvents.inc({ outcome: isPublished ? "published" : "kept" }, own.length);
      if (!isPublished && row.change !== undefined) await batches.confirm(row._id); // it was made, or nobody would publish it
    }
    if (isPublished) await done.add(row._id);
  };
  const resume: BatchOutbox["resume"] = async (id) => {
    const row = await batches.find(id);
    if (row === null) return;
    if (await batches.isTrue(row)) return publishDue(row, await batches.claim(row));
    log.info({ batch: id, events: row.events.length }, "event_batch.dropped");
    await done.add(id);
  };
  return {
    name: "event batches",
    start: async () => undefined,
    stop: done.stop,
    publish: async (...given) => void (await publishDue(...given).catch(falseWhenAway)),
    resume,
  };
};

/** Publishes batches that were not removed in time. Eight are read at a time, of up to 3 MB each. */
export const eventBatchTimer = (batches: Pick<EventBatches, "rows">, { resume }: BatchOutbox): AnyTimerSource =>
  timerSource<EventBatchRow>({
    name: "event batches",
    collection: batches.rows,
    select: [],
    handle: ({ _id }) => resume(_id),
    atOnce: 8,
  });
