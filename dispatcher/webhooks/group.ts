import type { Clock } from "#core/domain/clock.ts";
import { batchesOf } from "#core/domain/webhook-body.ts";
import type { EventEnvelope } from "#core/schema/event.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import { batchDeliveryOf } from "./delivery.ts";
import type { Lanes } from "./lanes.ts";

/** Source: decisions 10.1; 5 s at most, ours flushes sooner: JetStream holds the events meanwhile. */
const flush = { events: 100, ms: 1_000 };

type Open = { endpoint: WebhookRow; events: EventEnvelope[]; end: PromiseWithResolvers<void>; timer: NodeJS.Timeout };

/**
 * Gathers events for endpoints that want them grouped, until there are enough or the first has waited long enough. Who
 * brings them waits until they are stored, so that nothing is lost with this process.
 */
export const grouping = ({ offer, clock }: { offer: Lanes["offer"]; clock: Clock }) => {
  const groups = new Map<string, Open>();

  const close = (group: Open): void => {
    clearTimeout(group.timer);
    groups.delete(group.endpoint._id);
    const rows = batchesOf(group.events).map((batch) => batchDeliveryOf(group.endpoint, batch, clock.now()));
    offer(group.endpoint, rows.length, () => rows).then(group.end.resolve, group.end.reject);
  };

  return async (endpoint: WebhookRow, events: readonly EventEnvelope[]): Promise<void> => {
    const group = groups.get(endpoint._id) ?? begin(endpoint, close);
    groups.set(endpoint._id, group);
    group.events.push(...events);
    if (group.events.length >= flush.events) close(group);
    await group.end.promise;
  };
};

const begin = (endpoint: WebhookRow, close: (group: Open) => void): Open => {
  const group: Open = {
    endpoint,
    events: [],
    end: Promise.withResolvers<void>(),
    timer: setTimeout(() => close(group), flush.ms),
  };
  return group;
};
