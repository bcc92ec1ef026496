import { passes } from "#core/domain/webhooks/filter.ts";
import type { HandlerContext, Settlement } from "#core/queue/jetstream/worker.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { Directory } from "#core/storage/directory.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Batch } from "./hand-over.ts";

export type MatchDeps = {
  directory: Pick<Directory, "webhooksOf">;
  /** Gives events of one app to the owners of the endpoints that want them; resolves when all is stored. */
  deliver: (batch: Batch) => Promise<void>;
};

/** Gives events to the owners of the endpoints that want them. */
export const matchEvents =
  ({ directory, deliver }: MatchDeps) =>
  async (events: readonly EventEnvelope[], { isRepeated }: Pick<HandlerContext, "isRepeated">): Promise<Settlement> => {
    const byApp = [...Map.groupBy(events, ({ app_id }) => app_id)];
    await Promise.all(
      byApp.map(async ([appId, of]) => {
        const endpoints = await directory.webhooksOf(appId);
        const all = endpoints.map((endpoint) => ({ endpoint, events: of.filter((event) => wants(endpoint, event)) }));
        const wanted = all.filter((one) => one.events.length > 0);
        if (wanted.length > 0) await deliver({ appId, wanted, isRepeated });
      }),
    );
    return { kind: "done" };
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
