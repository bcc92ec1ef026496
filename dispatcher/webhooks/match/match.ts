import type { Clock } from "#core/domain/clock.ts";
import { passes } from "#core/domain/webhooks/filter.ts";
import type { HandlerContext, Settlement } from "#core/queue/jetstream/worker.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { EndpointQueues } from "../share/endpoint-queues.ts";
import { deliveryOf, type Written, written } from "./delivery.ts";

export type MatchDeps = {
  directory: Pick<Directory, "webhooksOf">;
  deliveries: Pick<Deliveries, "known">;
  queues: Pick<EndpointQueues, "share">;
  /** Gathers events of an endpoint that wants them grouped; resolves when they are stored. */
  group: (endpoint: WebhookRow, events: readonly EventEnvelope[]) => Promise<void>;
  clock: Clock;
};

/** Shares events among the queues of the endpoints that want them. The same events always make the same deliveries. */
export const matchEvents =
  (deps: MatchDeps) =>
  async (events: readonly EventEnvelope[], { isRepeated }: Pick<HandlerContext, "isRepeated">): Promise<Settlement> => {
    const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
    await Promise.all(
      byApp.map(async ([app, of]) => {
        const endpoints = await deps.directory.webhooksOf(app);
        if (endpoints.length > 0) await shareAll(deps, endpoints, { events: of, isRepeated });
      }),
    );
    return { kind: "done" };
  };

type Batch = { events: readonly EventEnvelope[]; isRepeated: boolean };

const shareAll = async (deps: MatchDeps, endpoints: readonly WebhookRow[], batch: Batch): Promise<void> => {
  const texts = new Map<EventEnvelope, Written>();
  const write = (event: EventEnvelope): Written => {
    const known = texts.get(event) ?? written(event);
    texts.set(event, known);
    return known;
  };
  await Promise.all(
    endpoints.map(async (endpoint) => {
      const wanted = batch.events.filter((event) => wants(endpoint, event));
      const { grouped = [], single = [] } = Object.groupBy(wanted, (event) =>
        isGrouped(endpoint, event) ? "grouped" : "single",
      );
      if (grouped.length > 0) await deps.group(endpoint, grouped);
      if (single.length === 0) return;
      const rows = () => single.map((event) => deliveryOf(endpoint, write(event), deps.clock.now()));
      const make = batch.isRepeated ? await unknown(deps, rows()) : rows;
      await deps.queues.share(endpoint, single.length, make);
    }),
  );
};

/** Leaves out deliveries that were stored when their events came the first time. */
const unknown = async (
  { deliveries }: MatchDeps,
  rows: readonly WebhookDeliveryRow[],
): Promise<() => WebhookDeliveryRow[]> => {
  const stored = await deliveries.known(rows.map(({ _id }) => _id));
  return () => rows.filter(({ _id }) => !stored.has(_id));
};

/** Whether an endpoint subscribed to an event: by kind, custom events also by name, and by its filters. */
export const wants = (
  endpoint: Pick<WebhookRow, "events" | "event_names" | "filters">,
  event: EventEnvelope,
): boolean => {
  if (!endpoint.events.includes(event.type)) return false;
  const { name } = event.data;
  const isNamed = event.type !== "event.received" || (typeof name === "string" && endpoint.event_names.includes(name));
  return isNamed && passes(endpoint.filters, event);
};

const isGrouped = ({ batch, status }: Pick<WebhookRow, "batch" | "status">, { type }: EventEnvelope): boolean =>
  batch && status !== "disabled" && type.startsWith("delivery.");
