import type { Clock } from "#core/domain/clock.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { EndpointQueues } from "../queues/endpoint-queues.ts";
import { deliveryOf, type Written, written } from "./delivery.ts";
import { grouping } from "./group.ts";

export type AcceptDeps = {
  deliveries: Pick<Deliveries, "known" | "grouped">;
  queues: Pick<EndpointQueues, "place">;
  clock: Clock;
};

/** An endpoint, and the events of a batch that it wants. */
export type EndpointEvents = { endpoint: WebhookRow; events: readonly EventEnvelope[] };

/** Accepts events for endpoints; resolves when all of their deliveries are stored. Repeated ones may have been before. */
export type Accept = (
  all: readonly EndpointEvents[],
  isRepeated: boolean,
  traceparent?: string | null,
) => Promise<void>;

/** Makes the deliveries of events, which the same events always make alike, and places them. */
export const accepting = (deps: AcceptDeps): Accept => {
  const { queues, clock } = deps;
  const group = grouping(deps);
  return async (all, isRepeated, traceparent = null) => {
    const texts = new Map<EventEnvelope, Written>();
    const write = (event: EventEnvelope): Written => {
      const known = texts.get(event) ?? written(event, traceparent);
      texts.set(event, known);
      return known;
    };
    const single = async ({ endpoint, events }: EndpointEvents): Promise<void> => {
      if (events.length === 0) return;
      const rows = () => events.map((event) => deliveryOf(endpoint, write(event), clock.now()));
      const characters = events.reduce((sum, event) => sum + write(event).text.length, 0);
      await queues.place(
        endpoint,
        { count: events.length, characters },
        isRepeated ? await unknown(deps, rows()) : rows,
      );
    };
    const one = async ({ endpoint, events }: EndpointEvents): Promise<void> => {
      const grouped = events.filter((event) => isGrouped(endpoint, event));
      const others = grouped.length === 0 ? events : events.filter((event) => !isGrouped(endpoint, event));
      await Promise.all([
        single({ endpoint, events: others }),
        grouped.length > 0 ? group(endpoint, grouped, traceparent) : undefined,
      ]);
    };
    await Promise.all(all.map(one));
  };
};

/** Leaves out deliveries that were stored when their events came the first time. */
const unknown = async (
  { deliveries }: AcceptDeps,
  rows: readonly WebhookDeliveryRow[],
): Promise<() => WebhookDeliveryRow[]> => {
  const stored = await deliveries.known(rows.map(({ _id }) => _id));
  return () => rows.filter(({ _id }) => !stored.has(_id));
};

const isGrouped = ({ batch, status }: Pick<WebhookRow, "batch" | "status">, { type }: EventEnvelope): boolean =>
  batch && status !== "disabled" && type.startsWith("delivery.");
