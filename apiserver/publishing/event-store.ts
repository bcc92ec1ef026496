import type { Clock } from "#core/domain/clock.ts";
import { Unavailable } from "#core/errors.ts";
import type { BatchOutbox } from "#core/queue/batch-outbox.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { AuditRow } from "#core/storage/audit/audit-log.ts";
import type { EventBatchRow } from "#core/storage/events/batch-row.ts";
import type { EventBatches } from "#core/storage/events/batches.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";
import type { IntendedChange } from "#core/storage/work/intended-changes.ts";
import { background } from "./background.ts";
import { type KeptEvents, rowOf, rowsOf, sizeOf } from "./batch-rows.ts";
import { type ClaimDeps, claiming, type GivenEvent } from "./claim-events.ts";
import { offerFirst } from "./offer-first.ts";

/** Events that one request gives. */
export type RequestEvents = Omit<KeptEvents, "events"> & { events: readonly GivenEvent[] };

export type EventStore = ReturnType<typeof eventStore>;

/** Events of a change that is about to be made. Left alone, they are a dispatcher's, who looks whether it was made. */
export type Prepared = {
  /** The change writes it into its document. */
  changeId: string;
  /** It was made. Resolves when JetStream has the events, or a dispatcher is to publish them. */
  publish: () => Promise<void>;
  /** It was not, and will not be. */
  withdraw: () => void;
};

export type EventStoreDeps = {
  batches: Pick<EventBatches, "insert" | "remove">;
  claims: ClaimDeps["claims"];
  /** Those that dispatchers have stored. */
  events: ClaimDeps["events"];
  outbox: Pick<BatchOutbox, "offer" | "publish">;
  clock: Clock;
  log: Log;
};

const changeMs = 90_000; // a change is made, or never, by then: two attempts of 30 s (storage/mongo/connect.ts) at most
const batch = { most: 200, inFlight: 1, isOfTurn: true }; // requests in one write; while one is stored the next is gathered
const ofChange = 0; // the weight of a change's events: they are few, and never left to the timer
const mostUnderWay = 32_000_000; // characters being published; beyond that, JetStream does not keep up and the timer does it

/**
 * Keeps events, those of requests that come at the same time together: with JetStream, or else in the store. What a crash
 * leaves of a stored batch is due, and a dispatcher finishes it. Source: docs/decisions/0043.
 */
export const eventStore = ({ batches, claims, events: storedEvents, outbox, clock, log }: EventStoreDeps) => {
  const publishing = background({ most: mostUnderWay });
  /** JetStream did not answer: until it does again, no request waits for it. */
  let isAway = false;
  const logFailure = failureLog(log);
  /** Resolves when a task that has begun has ended; what fails is finished by the timer. */
  const begin = (task: () => Promise<unknown>, weight: number): Promise<void> => {
    const over = Promise.withResolvers<void>();
    publishing.begin(
      () =>
        task()
          .then(() => undefined, logFailure)
          .finally(over.resolve),
      weight,
    );
    return over.promise;
  };
  const publishStored = async (row: EventBatchRow, mayBeRepeated = false): Promise<void> => {
    if (await outbox.publish(row, mayBeRepeated)) isAway = false;
  };
  const claim = claiming({ claims, events: storedEvents });
  const offer = offerFirst({ batches, outbox, onFailure: logFailure, onAway: () => void (isAway = true) });
  const publishFirst = async (all: readonly KeptEvents[]): Promise<unknown[]> => {
    const lost = await offer(rowsOf(all, clock.now()));
    return all.map(({ appId }) => (lost?.appIds.has(appId) === true ? lost.error : null));
  };
  const storeFirst = (mayBeRepeated: boolean) => async (all: readonly KeptEvents[]) => {
    const rows = rowsOf(all, clock.now());
    await batches.insert(rows);
    for (const row of rows) void begin(() => publishStored(row, mayBeRepeated), sizeOf(row.events));
    return all.map(() => null);
  };
  const [first, stored, storedAgain] = [
    gathered(publishFirst),
    gathered(storeFirst(false)),
    gathered(storeFirst(true)),
  ];
  const keep = async ({ events, ...given }: RequestEvents): Promise<number> => {
    const { own, unsure } = await claim(events);
    const failures = await Promise.all([
      own.length === 0 ? null : (isAway ? stored : first)({ ...given, events: own }),
      unsure.length === 0 ? null : storedAgain({ ...given, events: unsure }),
    ]);
    for (const failure of failures) if (failure !== null) throw failure;
    return events.length - own.length;
  };
  const prepare = preparing({ batches, clock, begin: (task) => begin(task, ofChange), publish: publishStored });
  return {
    name: "event store",
    /** Resolves when JetStream or the store has the events, to how many of them had come before. */
    keep,
    /** Resolves when events are stored that will be true once a change is made. */
    prepare,
    start: async () => undefined,
    stop: publishing.ended,
  };
};

const gathered = (write: (all: readonly KeptEvents[]) => Promise<unknown[]>) => gather({ write, ...batch });

type PrepareDeps = Pick<EventStoreDeps, "batches" | "clock"> & {
  begin: (task: () => Promise<unknown>) => Promise<void>;
  publish: (row: EventBatchRow) => Promise<void>;
};

const preparing =
  ({ batches, clock, begin, publish }: PrepareDeps) =>
  async (given: KeptEvents, change: IntendedChange, audit: AuditRow[]): Promise<Prepared> => {
    const now = clock.now();
    const row = { ...rowOf(given, given.events, now), change, audit, due_at: new Date(now.getTime() + changeMs) };
    await batches.insert([row]);
    return {
      changeId: row._id,
      publish: () => begin(() => publish(row)),
      withdraw: () => void begin(() => batches.remove([row._id])),
    };
  };

const failureLog =
  (log: Log) =>
  (err: unknown): void => {
    const level = unavailable(err) instanceof Unavailable ? "warn" : "error";
    log[level]({ err }, "events.not_finished");
  };
