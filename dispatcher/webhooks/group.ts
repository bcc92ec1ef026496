import type { Clock } from "#core/domain/clock.ts";
import { batchesOf } from "#core/domain/webhook-body.ts";
import type { EventEnvelope } from "#core/schema/event.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import { batchDeliveryOf } from "./delivery.ts";
import type { Lanes } from "./lanes.ts";

/** Source: decisions 10.1; 5 s at most, ours flushes sooner: JetStream holds the events meanwhile. */
const flush = { events: 100, ms: 1_000 };
/** Of the event batches in hand, those that wait for company: the others' places stay free. */
const mostWaiting = 48;

type Group = { endpoint: WebhookRow; events: EventEnvelope[]; waiting: number; end: PromiseWithResolvers<void> };

/**
 * Gathers events for endpoints that want them grouped, until there are enough, the first has waited long enough, or too
 * many wait. Who brings them waits until they are stored, so that nothing is lost with this process.
 */
export const grouping = ({ offer, clock }: { offer: Lanes["offer"]; clock: Clock }) => {
  const groups = new Map<string, Group>(); // the oldest first
  let waiting = 0;

  const close = (group: Group): void => {
    if (groups.get(group.endpoint._id) !== group) return;
    groups.delete(group.endpoint._id);
    waiting -= group.waiting;
    const rows = batchesOf(group.events).map((batch) => batchDeliveryOf(group.endpoint, batch, clock.now()));
    offer(group.endpoint, rows.length, () => rows).then(group.end.resolve, group.end.reject);
  };
  const begin = (endpoint: WebhookRow): Group => {
    const group: Group = { endpoint, events: [], waiting: 0, end: Promise.withResolvers<void>() };
    groups.set(endpoint._id, group);
    setTimeout(() => close(group), flush.ms);
    return group;
  };

  return async (endpoint: WebhookRow, events: readonly EventEnvelope[]): Promise<void> => {
    const group = groups.get(endpoint._id) ?? begin(endpoint);
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
