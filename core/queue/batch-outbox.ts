import type { Collection } from "mongodb";
import type { Clock } from "../domain/clock.ts";
import { falseWhenAway } from "../errors.ts";
import { mapBounded } from "../runtime/batching/bounded.ts";
import { gather } from "../runtime/batching/gather.ts";
import { later } from "../runtime/batching/later.ts";
import type { QueueMetrics } from "../runtime/metrics/queue.ts";
import type { Part } from "../runtime/process/lifecycle.ts";
import type { Log } from "../runtime/process/log.ts";
import { isSampled } from "../runtime/tracing/traceparent.ts";
import type { EventBatchRow, StoredEvent } from "../storage/events/batch-row.ts";
import type { EventBatches } from "../storage/events/batches.ts";
import type { EventClaims } from "../storage/events/claims.ts";
import { longAgo } from "../storage/mongo/collection.ts";
import { sweepAfter } from "../storage/work/due.ts";
import type { EventTextPublisher, Offered } from "./events.ts";
import { isPassing } from "./jetstream/passing.ts";
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
   * happens when another process took it meanwhile. Batches that are resumed in the same turn share commands and messages.
   * @throws Unavailable when JetStream is away: the batch stays due, before those that came later
   */
  resume: (due: DueBatch) => Promise<void>;
};

/** A batch as it was seen, and when it is due again should whoever takes it be killed. */
export type DueBatch = { id: string; dueAt: Date; until: Date };

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
  const offer = offering({ events, metrics });
  /** Publishes batches of one app, and has those removed that JetStream has all of; whether that is all of them. */
  const publishDue = async (rows: readonly EventBatchRow[], mayBeRepeated = false): Promise<boolean> => {
    let kept = rows;
    try {
      await Promise.all(rows.map(batches.keepAudit));
      const { left, away } = await offer(rows, mayBeRepeated);
      if (away !== null) throw away;
      const refused = new Set(left);
      kept = rows.filter((row) => row.events.some((event) => refused.has(event)));
    } finally {
      const certain = kept.filter(({ change }) => change !== undefined); // it was made, or nobody would publish it
      await Promise.all(certain.map(({ _id: id }) => batches.confirm(id)));
    }
    for (const row of rows) if (!kept.includes(row)) await done.add(row._id);
    return kept.length === 0;
  };
  const withoutRepeats = async (row: EventBatchRow): Promise<EventBatchRow> => {
    const others = await claims.claimBatch(row);
    return others.size === 0 ? row : { ...row, events: row.events.filter(({ id }) => !others.has(id)) };
  };
  const drop = async (row: EventBatchRow): Promise<void> => {
    log.info({ batch: row._id, events: row.events.length }, "event_batch.dropped");
    await done.add(row._id);
  };
  const finish = async (rows: readonly EventBatchRow[]): Promise<void> => {
    const own = await Promise.all(
      rows.map(async (row) => ((await batches.isTrue(row)) ? withoutRepeats(row) : drop(row))),
    );
    await publishDue(
      own.filter((row) => row !== undefined),
      true,
    );
  };
  return {
    name: "event batches",
    start: async () => undefined,
    stop: done.stop,
    offer: (row) => offer([row]),
    publish: (row, mayBeRepeated) => publishDue([row], mayBeRepeated).catch(falseWhenAway),
    resume: resuming({ batches, finish }),
  };
};

/** Offers JetStream the events of batches of one app; gives those that it has not acknowledged. */
const offering =
  ({ events, metrics }: Pick<BatchOutboxDeps, "events" | "metrics">) =>
  async (rows: readonly EventBatchRow[], mayBeRepeated = false): Promise<Offered<StoredEvent>> => {
    const first = rows.find(({ traceparent }) => isSampled(traceparent)) ?? rows[0];
    const all = rows.flatMap((row) => row.events);
    if (first === undefined || all.length === 0) return nothing;
    const { tenant_id: tenantId, app_id: appId, traceparent } = first;
    let left = all;
    try {
      const offered = await events.offerTexts({ tenantId, appId }, all, { traceparent, mayBeRepeated });
      left = offered.left;
      return offered;
    } finally {
      metrics.outboxEvents.inc({ outcome: "published" }, all.length - left.length);
      metrics.outboxEvents.inc({ outcome: "kept" }, left.length);
    }
  };

type Resuming = Pick<BatchOutboxDeps, "batches"> & {
  /** Publishes batches that may be published together. */
  finish: (rows: readonly EventBatchRow[]) => Promise<void>;
};

const mostTogether = 64;
const inFlight = 8; // apps whose batches are being published

/** Takes batches that are due by one command, and finishes those of each app together. */
const resuming = ({ batches, finish }: Resuming): BatchOutbox["resume"] => {
  const write = async (due: readonly DueBatch[]): Promise<unknown[]> => {
    const take = { dueBy: latestOf(due, "dueAt"), until: latestOf(due, "until") };
    const failures = new Map<string, unknown>();
    let away: unknown = null;
    const fail = async (rows: readonly EventBatchRow[], error: unknown): Promise<void> => {
      const ids = rows.map(({ _id: id }) => id);
      for (const id of ids) failures.set(id, error);
      await batches.giveBack(ids, take).catch(() => undefined); // they are due again by themselves
    };
    const resumeSome = async (rows: readonly EventBatchRow[]): Promise<void> => {
      if (away !== null) return fail(rows, away); // the others would wait for as long
      try {
        await finish(rows);
      } catch (error) {
        if (isPassing(error)) away = error;
        else if (rows.length > 1) return void (await mapBounded(rows, 1, (row) => resumeSome([row])));
        await fail(rows, error);
      }
    };
    const taken = await batches.take(
      due.map(({ id }) => id),
      take,
    );
    await mapBounded([...Map.groupBy(taken, publishedWith).values()], inFlight, resumeSome);
    return due.map(({ id }) => failures.get(id) ?? null);
  };
  const resumed = gather<DueBatch, unknown>({ write, most: mostTogether, inFlight: 1, isOfTurn: true });
  return async (due) => {
    const failure = await resumed(due);
    if (failure !== null) throw failure;
  };
};

const latestOf = (due: readonly DueBatch[], member: "dueAt" | "until"): Date =>
  due.reduce((latest, { [member]: at }) => (at > latest ? at : latest), longAgo);

/** Batches with the same are published together: all of an app, but those of a change and of the last release, which are looked up. */
const publishedWith = ({ _id: id, app_id: appId, change, audit, events }: EventBatchRow): string =>
  change === undefined && audit === undefined && events.every(({ once }) => once === false) ? appId : id;

/** Of a change that no event reports, and of a batch whose events others had before. */
const nothing: Offered<StoredEvent> = { left: [], away: null };

/** Publishes batches that were not removed in time; all dispatchers do, the tenants' in turn. */
export const eventBatchTimer = (
  batches: Collection<EventBatchRow>,
  { resume }: Pick<BatchOutbox, "resume">,
  { clock, everyMs }: { clock: Clock; everyMs: () => number },
): AnyTimerSource =>
  timerSource({
    name: "event batches",
    collection: batches,
    select: [],
    inTurn: true,
    handle: async ({ _id, due_at: dueAt }) => {
      if (dueAt !== null) await resume({ id: _id, dueAt, until: sweepAfter(clock.now()) });
    },
    everyMs,
  });
