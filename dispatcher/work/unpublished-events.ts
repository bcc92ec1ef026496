import type { Db } from "mongodb";
import { type BatchOutboxDeps, batchOutbox, eventBatchTimer } from "#core/queue/batch-outbox.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { eventBatchCollection, eventBatches } from "#core/storage/events/batches.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";

export type UnpublishedEventsDeps = Pick<BatchOutboxDeps, "events"> & {
  db: Db;
  log: Log;
  metrics: Metrics<"dispatcher">;
};

/** Publishes the events that an apiserver stored and could not publish. */
export const unpublishedEvents = ({ db, events, log, metrics }: UnpublishedEventsDeps) => {
  const batches = eventBatches(db);
  const part = batchOutbox({ batches, events, log, metrics: metrics.queue });
  return { parts: [part], timers: [eventBatchTimer(collectionOf<EventBatchRow>(db, eventBatchCollection), part)] };
};
