import type { Clock } from "#core/domain/clock.ts";
import { derivedId } from "#core/domain/ids.ts";
import type { Settlement } from "#core/queue/worker.ts";
import type { EventEnvelope } from "#core/schema/event.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";

export type MatchDeps = {
  /** Endpoints of an app that are not disabled. */
  webhooksOf: (appId: string) => Promise<WebhookRow[]>;
  /** Stores deliveries; those that exist already stay as they are. */
  keep: (rows: readonly WebhookDeliveryRow[]) => Promise<void>;
  wake: (endpointIds: readonly string[], at: Date) => Promise<void>;
  /** Rings an endpoint's doorbell; should it be lost, the timer rings again at the endpoint's `due_at`. */
  ring: (endpointId: string) => Promise<unknown>;
  clock: Clock;
};

/** Turns events into deliveries to the endpoints that want them. Twice the same events make the same deliveries. */
export const matchEvents =
  ({ webhooksOf, keep, wake, ring, clock }: MatchDeps) =>
  async (events: readonly EventEnvelope[]): Promise<Settlement> => {
    const now = clock.now();
    const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
    const wanted = await Promise.all(byApp.map(async ([app, of]) => deliveriesOf(await webhooksOf(app), of, now)));
    const deliveries = wanted.flat();
    if (deliveries.length === 0) return { kind: "done" };
    await keep(deliveries);
    const endpointIds = [...new Set(deliveries.map(({ endpoint_id }) => endpoint_id))];
    await wake(endpointIds, new Date(now.getTime() + sweepAfterMs));
    await Promise.all(endpointIds.map(ring)); // an app has at most 100 endpoints
    return { kind: "done" };
  };

/** How long a lost doorbell goes unnoticed. */
const sweepAfterMs = 10_000;

const deliveriesOf = (endpoints: readonly WebhookRow[], events: readonly EventEnvelope[], now: Date) =>
  endpoints.flatMap((endpoint) =>
    events.filter((event) => wants(endpoint, event)).map((event) => deliveryOf(endpoint, event, now)),
  );

/** Whether an endpoint subscribed to an event; custom events also by their name. Source: spec part 6, rule 2. */
export const wants = (
  endpoint: Pick<WebhookRow, "status" | "events" | "event_names">,
  event: EventEnvelope,
): boolean => {
  if (endpoint.status === "disabled" || !endpoint.events.includes(event.type)) return false;
  const { name } = event.data;
  return event.type !== "event.received" || (typeof name === "string" && endpoint.event_names.includes(name));
};

const deliveryOf = (endpoint: WebhookRow, event: EventEnvelope, now: Date): WebhookDeliveryRow => ({
  _id: derivedId("webhookDelivery", endpoint._id, event.id),
  tenant_id: endpoint.tenant_id,
  app_id: endpoint.app_id,
  endpoint_id: endpoint._id,
  event_id: event.id,
  event_type: event.type,
  subject_id: event.subject_id,
  payload: event,
  status: "pending",
  attempt: 0,
  due_at: now,
  response_status: null,
  response_body_excerpt: null,
  error: null,
  duration_ms: null,
  delivered_at: null,
  created_at: now,
});
