import type { Clock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import { Unavailable } from "#core/errors.ts";
import type { BatchOutbox } from "#core/queue/batch-outbox.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { AuditRow } from "#core/storage/audit/audit-log.ts";
import type { EventBatchRow, StoredEvent } from "#core/storage/events/batch-row.ts";
import type { EventBatches } from "#core/storage/events/batches.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import type { IntendedChange } from "#core/storage/work/intended-changes.ts";
import { background } from "./background.ts";
import { offerFirst } from "./offer-first.ts";

/** Events that one request gives. */
export type RequestEvents = {
  tenantId: string;
  appId: string;
  traceparent: string | null;
  events: readonly StoredEvent[];
};

export type EventStore = ReturnType<typeof eventStore>;

/** Events of a change that is about to be made. Left alone, they are a dispatcher's, who looks whether it was made. */
export type Prepared = {
  /** The change writes it into its document. */
  changeId: string;
  /** It was made. */
  publish: () => void;
  /** It was not, and will not be. */
  withdraw: () => void;
};

export type EventStoreDeps = {
  batches: Pick<EventBatches, "insert" | "remove">;
  outbox: Pick<BatchOutbox, "offer" | "publish">;
  clock: Clock;
  log: Log;
};

const changeMs = 90_000; // a change is made, or never, by then: two attempts of 30 s (storage/mongo/connect.ts) at most
const batch = { most: 200, inFlight: 1, isOfTurn: true }; // requests in one write; while one is stored the next is gathered
const mostEvents = 1_000; // of one document
const mostCharacters = 1_000_000; // of one document; MongoDB takes 16 MiB
const ofChange = 0; // the weight of a change's events: they are few, and never left to the timer
const mostUnderWay = 32_000_000; // characters being published; beyond that, JetStream does not keep up and the timer does it

/**
 * Keeps events, those of requests that come at the same time together: with JetStream, or else in the store, as those are
 * whose sender gave an id, and all of them while JetStream is away. What a crash leaves of a stored batch is due, and a
 * dispatcher finishes it. Source: docs/decisions/0043.
 */
export const eventStore = ({ batches, outbox, clock, log }: EventStoreDeps) => {
  const publishing = background({ most: mostUnderWay });
  /** JetStream did not answer: until it does again, no request waits for it. */
  let isAway = false;
  const logFailure = failureLog(log);
  /** What fails is finished by the timer. */
  const logged = (task: Promise<unknown>): Promise<void> => task.then(() => undefined, logFailure);
  const publishStored = async (row: EventBatchRow, others: ReadonlySet<string>): Promise<void> => {
    if (await outbox.publish(row, others)) isAway = false;
  };
  const offer = offerFirst({ batches, outbox, onFailure: logFailure, onAway: () => void (isAway = true) });
  const publishFirst = async (all: readonly RequestEvents[]): Promise<unknown[]> => {
    const lost = await offer(rowsOf(all, clock.now()));
    return all.map(({ appId }) => (lost?.appIds.has(appId) === true ? lost.error : null));
  };
  const storeFirst = async (all: readonly RequestEvents[]): Promise<number[]> => {
    const fresh = withoutRepeats(all);
    const rows = rowsOf(fresh, clock.now());
    const others = await batches.insert(rows);
    for (const row of rows) publishing.begin(() => logged(publishStored(row, others)), sizeOf(row.events));
    return all.map(({ events }, i) => events.length - countOwn(fresh[i]?.events ?? [], others));
  };
  const [first, stored] = [gather({ write: publishFirst, ...batch }), gather({ write: storeFirst, ...batch })];
  const keep = async ({ events, ...given }: RequestEvents): Promise<number> => {
    const { yes = [], no = [] } = Object.groupBy(events, ({ once }) => (isAway || once !== false ? "yes" : "no"));
    const [duplicates, failure] = await Promise.all([
      yes.length === 0 ? 0 : stored({ ...given, events: yes }),
      no.length === 0 ? null : first({ ...given, events: no }),
    ]);
    if (failure !== null) throw failure;
    return duplicates;
  };
  /** Resolves when events are stored that will be true once a change is made. */
  const prepare = async (given: RequestEvents, change: IntendedChange, audit: AuditRow[]): Promise<Prepared> => {
    const now = clock.now();
    const due_at = new Date(now.getTime() + changeMs);
    const row = { ...rowOf(given, [...given.events], now), change, audit, due_at };
    await batches.insert([row]);
    return {
      changeId: row._id,
      publish: () => publishing.begin(() => logged(publishStored(row, new Set())), ofChange),
      withdraw: () => publishing.begin(() => logged(batches.remove([row._id])), ofChange),
    };
  };
  return {
    name: "event store",
    /** Resolves when JetStream or the store has the events, to how many of them had come before. */
    keep,
    prepare,
    start: async () => undefined,
    stop: publishing.ended,
  };
};

const failureLog =
  (log: Log) =>
  (err: unknown): void => {
    const level = unavailable(err) instanceof Unavailable ? "warn" : "error";
    log[level]({ err }, "events.not_finished");
  };

/** What is twice in one write counts once. */
const withoutRepeats = (all: readonly RequestEvents[]): RequestEvents[] => {
  const seen = new Set<string>();
  const isFirst = ({ once }: StoredEvent): boolean => once === false || (!seen.has(once) && seen.add(once).size > 0);
  return all.map((given) => ({ ...given, events: given.events.filter(isFirst) }));
};

const countOwn = (events: readonly StoredEvent[], others: ReadonlySet<string>): number =>
  others.size === 0 ? events.length : events.filter(({ id }) => !others.has(id)).length;

/** One document for an app, more when it would become too large. */
const rowsOf = (all: readonly RequestEvents[], now: Date): EventBatchRow[] =>
  [...Map.groupBy(all, ({ appId }) => appId).values()].flatMap((ofApp) => {
    const first = ofApp.find(({ traceparent }) => isSampled(traceparent)) ?? ofApp[0];
    return first === undefined
      ? []
      : parts(ofApp.flatMap(({ events }) => events)).map((part) => rowOf(first, part, now));
  });

const parts = (events: readonly StoredEvent[]): StoredEvent[][] => {
  const made: StoredEvent[][] = [];
  let characters = 0;
  for (const event of events) {
    const open = made.at(-1);
    characters += event.text.length;
    if (open !== undefined && open.length < mostEvents && characters <= mostCharacters) {
      open.push(event);
      continue;
    }
    made.push([event]);
    characters = event.text.length;
  }
  return made;
};

const rowOf = ({ tenantId, appId, traceparent }: RequestEvents, events: StoredEvent[], now: Date): EventBatchRow => ({
  _id: newId("eventBatch", now),
  tenant_id: tenantId,
  app_id: appId,
  events,
  bytes: events.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0),
  traceparent,
  due_at: sweepAfter(now), // what is not published by then is published by a dispatcher
  lease: null,
  fence: 0,
  created_at: now,
});

const sizeOf = (events: readonly StoredEvent[]): number => events.reduce((sum, { text }) => sum + text.length, 0);
