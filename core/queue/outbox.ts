import type { Collection, Filter } from "mongodb";
import { falseWhenAway } from "../errors.ts";
import { later } from "../runtime/batching/later.ts";
import type { QueueMetrics } from "../runtime/metrics/queue.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import type { OutboxEvent } from "../schema/events/envelope.ts";
import type { Leasable } from "../storage/work/leases.ts";
import type { EventPublisher } from "./events.ts";

/** A document that lists the events which follow from it until they are published. */
export type WithOutbox = Leasable & { tenant_id: string; outbox: OutboxEvent[] };

export type Outbox = Part & {
  /**
   * Publishes a document's events, then has them cleared. False when JetStream is away, or has no room for the tenant's:
   * they stay in the document, which is due again.
   */
  flush: (row: Flushed) => Promise<boolean>;
  /**
   * The same of a document that is due.
   * @throws Unavailable when JetStream is away: the document stays due, before those that came later
   */
  flushDue: (row: Flushed) => Promise<boolean>;
};

type Flushed = Pick<WithOutbox, "_id" | "tenant_id" | "outbox"> & { traceparent?: string | null };

export type OutboxDeps<Row extends WithOutbox> = {
  rows: Collection<Row>;
  events: EventPublisher;
  /** When a document with an empty outbox and no lease needs no further turn: its `due_at` becomes null. */
  done: Filter<Row>;
  log: Log;
  metrics: QueueMetrics;
};

/** How documents are cleared: 500 in one write, a moment after their events were published. */
export const clearing = { everyMs: 200, most: 500, waitingAtMost: 5_000 } as const;

/**
 * Publishes what documents' outboxes list. Clearing is gathered into few writes; what a crash leaves uncleared is
 * published again by the sweep, and known to consumers by its id.
 */
export const outbox = <Row extends WithOutbox>({ events, log, metrics, ...of }: OutboxDeps<Row>): Outbox => {
  const rows = of.rows as unknown as Collection<WithOutbox>; // the driver's types cannot see that Row has its members
  const done = of.done as Filter<WithOutbox>; // nor that a filter of Row's is one of theirs
  const published = later<Published>({
    ...clearing,
    write: (documents) => clear(rows, documents, done),
    onError: (err, documents) => log.warn({ err, documents }, "outbox.not_cleared"),
  });
  const flushDue: Outbox["flushDue"] = async (row) => {
    if (row.outbox.length === 0) return true;
    let isPublished = false;
    try {
      isPublished = await events.publish(row.tenant_id, row.outbox, row.traceparent);
    } finally {
      metrics.outboxEvents.inc({ outcome: isPublished ? "published" : "kept" }, row.outbox.length);
    }
    if (isPublished) await published.add({ id: row._id, events: row.outbox.map((event) => event.id) });
    return isPublished;
  };
  return {
    name: `outbox of ${rows.collectionName}`,
    start: async () => undefined,
    stop: published.stop,
    flush: (row) => flushDue(row).catch(falseWhenAway),
    flushDue,
  };
};

/** A document, and those of its events that are to be cleared. */
type Published = { id: string; events: readonly string[] };

/**
 * One write for documents whose only event was published and that need no further turn, which most are; two more for the
 * others. Event ids are unique, so all of the batch's may be pulled from each of its documents.
 */
const clear = async (
  rows: Collection<WithOutbox>,
  documents: readonly Published[],
  done: Filter<WithOutbox>,
): Promise<void> => {
  const ids = [...new Set(documents.map(({ id }) => id))];
  const eventIds = documents.flatMap(({ events }) => events);
  const these = { _id: { $in: ids } };
  const only = { outbox: { $size: 1 }, "outbox.id": { $in: eventIds }, lease: null };
  const ended = { $set: { outbox: [], due_at: null } };
  if ((await rows.updateMany({ $and: [these, only, done] }, ended)).matchedCount === ids.length) return;
  await rows.updateMany(these, { $pull: { outbox: { id: { $in: eventIds } } } });
  const cleared = { outbox: { $size: 0 }, lease: null, due_at: { $ne: null } };
  await rows.updateMany({ $and: [these, cleared, done] }, { $set: { due_at: null } });
};
