import type { Clock } from "#core/domain/clock.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import type { WaitingEvents } from "../limits/waiting-events.ts";
import type { EventStore } from "../publishing/event-store.ts";
import { definer } from "./definitions/define.ts";
import { type DefinitionPlatform, definitionUse } from "./definitions/routes.ts";
import { publishEvents } from "./publish.ts";

export type EventPlatform = DefinitionPlatform & {
  events: Pick<EventStore, "keep">;
  waiting: Pick<WaitingEvents, "requireRoom">;
  metrics: Pick<ApiserverMetrics, "customEvents">;
  clock: Clock;
};

export type EventUse = ReturnType<typeof eventUseCases>;

/** What the operations on events do. */
export const eventUseCases = ({ events, waiting, metrics, clock, ...platform }: EventPlatform) => ({
  definitions: definitionUse({ ...platform, clock }),
  requireRoom: waiting.requireRoom,
  publish: publishEvents({
    define: definer({ definitions: eventDefinitions(platform.db), clock }),
    keep: events.keep,
    count: (outcome, n) => metrics.customEvents.inc({ outcome }, n),
    clock,
  }),
});
