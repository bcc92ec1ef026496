import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { type BatchOutboxDeps, batchOutbox, eventBatchTimer } from "#core/queue/batch-outbox.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { eventBatchCollection, eventBatches } from "#core/storage/events/batches.ts";
import { eventClaims } from "#core/storage/events/claims.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";

export type UnpublishedEventsDeps = Pick<BatchOutboxDeps, "events"> & {
  db: Db;
  clock: Clock;
  log: Log;
  metrics: Metrics<"dispatcher">;
};

/** Publishes the events that an apiserver stored and could not publish, with all other dispatchers. */
export const unpublishedEvents = ({ db, events, clock, log, metrics }: UnpublishedEventsDeps) => {
  const batches = eventBatches(db);
  const part = batchOutbox({ batches, claims: eventClaims(db), events, log, metrics: metrics.queue });
  return {
    parts: [part],
    timers: [eventBatchTimer(collectionOf<EventBatchRow>(db, eventBatchCollection), part, clock)],
  };
};
