import type { Db } from "mongodb";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { batchOf, type EventBatch } from "#core/domain/events/received.ts";
import type { CallbackQueue } from "#core/queue/callbacks.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import { isOfOne } from "#core/queue/jetstream/passing.ts";
import type { Settlement } from "#core/queue/jetstream/worker.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Directory } from "#core/storage/directory.ts";
import { conversionDays } from "#core/storage/events/conversion-days.ts";
import { conversions } from "#core/storage/events/conversions.ts";
import { type CountedBatches, countedBatches } from "#core/storage/events/counted.ts";
import { dayUsers } from "#core/storage/events/day-users.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { eventDays } from "#core/storage/events/event-days.ts";
import { eventValues } from "#core/storage/events/event-values.ts";
import { events as eventStore } from "#core/storage/events/events.ts";
import { eventPeople } from "#core/storage/events/people.ts";
import { effects } from "#core/storage/messages/effects.ts";
import { touches } from "#core/storage/messages/touches.ts";
import type { Peers } from "../work/peers.ts";
import { countConversions } from "./conversion-days.ts";
import { convertEvents } from "./convert.ts";
import { countBatches } from "./count.ts";
import { followEvents } from "./follow.ts";
import { type StoredBatch, storeBatches } from "./store.ts";

export type RecordDeps = {
  db: Db;
  directory: Pick<Directory, "app">;
  /** Takes receipts of our own. */
  callbacks: CallbackQueue;
  events: Pick<EventPublisher, "publish">;
  metrics: Pick<Metrics<"dispatcher">, "storedEvents" | "conversions">;
  clock: Clock;
  peers: Pick<Peers, "heardOf">;
  /**
   * From one counting to the next, where not all that can be in hand waits for it; events are stored twice in this time. Of
   * several dispatchers each waits so much longer, up to four times: so all together write no more than one.
   */
  pauseMs?: number;
};

/**
 * Places for messages in hand, of which one has up to 100 events and 64 KiB and takes a place for each `bytesOfPlace`: while some
 * are counted the next are stored. Where many apps send single events, a write is shared by hundreds of messages.
 */
export const inHand = { places: 768, bytesOfPlace: 8_192 };
const eventsOf = ({ events }: { events: readonly unknown[] }): number => events.length;
const storing = { most: 256, weigh: { of: eventsOf, most: 2_400 }, inFlight: 2 };
const counting = { most: 384, weigh: { of: eventsOf, most: 4_800 }, inFlight: 1 };
const mostPauses = 4;
const usualPauseMs = 1_000; // the more events are counted at once, the fewer writes each takes

/**
 * Stores and counts the custom events of a message of the stream; of those that come at the same time many at once. A
 * message may come again, in this process or another: what was counted is not counted again. Source: docs/decisions/0070.
 */
export const recordEvents = ({ pauseMs = usualPauseMs, ...deps }: RecordDeps) => {
  const countEveryMs = (): number => pauseMs * Math.min(deps.peers.heardOf(), mostPauses);
  const counted = countedBatches(deps.db);
  const store = gather<EventBatch, StoredBatch | null>({
    write: storer(deps, counted),
    ...storing,
    everyMs: () => countEveryMs() / 2, // nobody waits for it
    isOfOne,
  });
  const countAll = counter(deps, counted);
  const count = gather<StoredBatch, undefined>({
    write: async (batches) => {
      await countAll(batches);
      return batches.map(() => undefined);
    },
    ...counting,
    everyMs: countEveryMs,
    isOfOne,
  });
  return async (envelopes: readonly EventEnvelope[]): Promise<Settlement> => {
    const batch = batchOf(envelopes);
    const stored = batch.events.length === 0 ? null : await store(batch);
    if (stored !== null) await count(stored);
    const own = stored?.events.length ?? 0;
    deps.metrics.storedEvents.inc({ outcome: "stored" }, own);
    deps.metrics.storedEvents.inc({ outcome: "known" }, batch.events.length - own);
    return { kind: "done" };
  };
};

const storer = ({ db, directory, clock }: RecordDeps, counted: CountedBatches) =>
  storeBatches({
    directory,
    people: eventPeople(db, clock),
    events: eventStore(db),
    dayUsers: dayUsers(db),
    counted,
    clock,
  });

const counter = ({ db, directory, callbacks, events, metrics, clock }: RecordDeps, counted: CountedBatches) => {
  const outcomesOf = async (appId: string) => settingsOf((await directory.app(appId)) ?? {}).outcomes;
  return countBatches({
    definitions: eventDefinitions(db),
    days: eventDays(db, counted.known),
    values: eventValues(db, counted.known),
    convert: convertEvents({
      touches: touches(db),
      conversions: conversions(db),
      follow: followEvents({ effects: effects(db), outcomesOf, clock }),
      outcomesOf,
      callbacks,
      publisher: events,
      countDays: countConversions({ days: conversionDays(db, counted.known) }),
      count: (attribution, by) => metrics.conversions.inc({ attribution }, by),
      clock,
    }),
    counted,
    clock,
  });
};
