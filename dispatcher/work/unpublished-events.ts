import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { type BatchOutboxDeps, batchOutbox, eventBatchTimer } from "#core/queue/batch-outbox.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import { eventBatchCollection, eventBatches } from "#core/storage/events/batches.ts";
import { eventClaims } from "#core/storage/events/claims.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import type { Peers } from "./peers.ts";

export type UnpublishedEventsDeps = Pick<BatchOutboxDeps, "events"> & {
  db: Db;
  clock: Clock;
  log: Log;
  metrics: Metrics<"dispatcher">;
  peers: Pick<Peers, "heardOf">;
};

const lookMs = 1_000; // of all dispatchers together
const lookAtMostMs = 4_000;

/** Publishes the events that an apiserver stored and could not publish, with all other dispatchers. */
export const unpublishedEvents = ({ db, events, clock, log, metrics, peers }: UnpublishedEventsDeps) => {
  const batches = eventBatches(db);
  const part = batchOutbox({ batches, claims: eventClaims(db), events, log, metrics: metrics.queue });
  const everyMs = (): number => Math.min(lookMs * peers.heardOf(), lookAtMostMs);
  const rows = collectionOf<EventBatchRow>(db, eventBatchCollection);
  return {
    parts: [part],
    timers: [eventBatchTimer(rows, part, { clock, everyMs })],
  };
};
