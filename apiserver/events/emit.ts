import { eventText } from "#core/queue/events.ts";
import type { EventEnvelope } from "#core/schema/event.ts";
import type { EventStore } from "./store.ts";

/** Stores events that follow from no document of their own; they are published right after, or by a dispatcher. */
export type EmitEvents = (
  tenantId: string,
  appId: string,
  events: readonly EventEnvelope[],
  traceparent: string | null,
) => Promise<void>;

/** Emits single facts, such as `audit.created`, through the store of custom events. */
export const emitEvents =
  ({ keep }: Pick<EventStore, "keep">): EmitEvents =>
  async (tenantId, appId, events, traceparent) => {
    if (events.length === 0) return;
    const stored = events.map((event) => ({ ...eventText(event), once: false }));
    await keep({ tenantId, appId, traceparent, events: stored });
  };
