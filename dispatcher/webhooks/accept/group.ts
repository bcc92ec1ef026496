import type { Clock } from "#core/domain/clock.ts";
import { batchesOf } from "#core/domain/webhooks/body.ts";
import { isSampled } from "#core/runtime/tracing/traceparent.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Deliveries } from "../history/deliveries.ts";
import { charactersOf } from "../queue/pending-deliveries.ts";
import type { EndpointQueues } from "../queues/endpoint-queues.ts";
import { batchDeliveryOf } from "./delivery.ts";

/** 5 s at most by docs/reference/webhooks.md#batches. Ours is shorter, as JetStream keeps the events meanwhile. */
export const flush = { events: 100, ms: 1_000 };
/** Event batches that may wait to be grouped; the other places for event batches stay free. */
const mostWaiting = 48;

const mostTraces = 32;

type Group = {
  endpoint: WebhookRow;
  events: EventEnvelope[];
  /** Of the messages that the events came in. */
  traces: Set<string>;
  waiting: number;
  end: PromiseWithResolvers<void>;
};

export type GroupingDeps = {
  queues: Pick<EndpointQueues, "place">;
  deliveries: Pick<Deliveries, "grouped">;
  clock: Clock;
};

/**
 * Gathers events for endpoints that want them grouped, until there are enough, the first has waited long enough, or too
 * many wait. The caller waits until they are stored, so that no event is lost with this process. A batch is stored before
 * it is sent, and an event that comes again is left to the batch that it was stored in: if it arrives again, then under
 * the same id.
 */
export const grouping = (deps: GroupingDeps) => {
  const groups = new Map<string, Group>(); // the oldest first
  const storing = new Map<string, Promise<void>>(); // by endpoint: an event may come again while it is being stored
  let waiting = 0;

  const close = (group: Group): void => {
    const { endpoint, end } = group;
    if (groups.get(endpoint._id) !== group) return;
    groups.delete(endpoint._id);
    waiting -= group.waiting;
    const stored = (storing.get(endpoint._id) ?? Promise.resolve()).then(() => store(deps, group));
    stored.then(end.resolve, end.reject);
    const over = stored
      .catch(() => undefined)
      .then(() => void (storing.get(endpoint._id) === over && storing.delete(endpoint._id)));
    storing.set(endpoint._id, over);
  };
  const begin = (endpoint: WebhookRow): Group => {
    const group: Group = { endpoint, events: [], traces: new Set(), waiting: 0, end: Promise.withResolvers<void>() };
    groups.set(endpoint._id, group);
    setTimeout(() => close(group), flush.ms);
    return group;
  };

  return async (endpoint: WebhookRow, events: readonly EventEnvelope[], traceparent: string | null = null) => {
    const group = groups.get(endpoint._id) ?? begin(endpoint);
    if (isSampled(traceparent) && group.traces.size < mostTraces) group.traces.add(traceparent);
    group.events.push(...events);
    group.waiting++;
    waiting++;
    if (group.events.length >= flush.events) close(group);
    for (const oldest of groups.values()) {
      if (waiting <= mostWaiting) break;
      close(oldest);
    }
    await group.end.promise;
  };
};

const store = async (
  { queues, deliveries, clock }: GroupingDeps,
  { endpoint, events, traces }: Group,
): Promise<void> => {
  const once = [...new Map(events.map((event) => [event.id, event])).values()];
  const known = await deliveries.grouped(
    endpoint._id,
    once.map(({ id }) => id),
  );
  const fresh = once.filter(({ id }) => !known.has(id));
  const rows = batchesOf(fresh).map((batch) =>
    batchDeliveryOf(endpoint, { ...batch, traces: [...traces] }, clock.now()),
  );
  // one more than there are, when some are known: whoever stored those may have been killed before it notified anybody
  const count = rows.length + (known.size > 0 ? 1 : 0);
  await queues.place(endpoint, { count, characters: charactersOf(rows) }, () => rows, { isStoredFirst: true });
};
