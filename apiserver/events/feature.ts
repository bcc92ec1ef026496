import type { Clock } from "#core/domain/clock.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import { EventsAccepted, EventTypeList, PublishEvents } from "#core/schema/events/custom.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { eventDefinitions } from "#core/storage/events/definitions.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import type { EventStore } from "../publishing/event-store.ts";
import { definer } from "./definitions/define.ts";
import { type DefinitionPlatform, definitionRoutes, definitionUse } from "./definitions/routes.ts";
import { docs } from "./openapi.ts";
import { publishEvents } from "./publish.ts";

type EventPlatform = DefinitionPlatform & {
  events: Pick<EventStore, "keep">;
  metrics: Pick<ApiserverMetrics, "customEvents">;
  clock: Clock;
};

const make = ({ events, metrics, clock, ...platform }: EventPlatform) => ({
  definitions: definitionUse({ ...platform, clock }),
  publish: publishEvents({
    define: definer({ definitions: eventDefinitions(platform.db), clock }),
    keep: events.keep,
    count: (outcome, n) => metrics.customEvents.inc({ outcome }, n),
    clock,
  }),
});

const route = routeOf<ReturnType<typeof make>>({ tag: "Events", scopes: ["events:write"] });

const routes = [
  route({
    id: "publishEvents",
    method: "POST",
    path: "/v1/apps/{appId}/events",
    summary: "Accept custom events",
    status: [202],
    body: PublishEvents,
    reply: EventsAccepted,
    locate: appOfPath,
    repeatable: {},
    handle: async ({ use, body, resource: app, traceparent, once }) => ({
      body: await use.publish({ app, body, traceparent, onceId: once?.id ?? null }),
    }),
  }),

  route({
    id: "listEventTypes",
    method: "GET",
    path: "/v1/apps/{appId}/webhooks/event-types",
    summary: "List the kinds of events that endpoints can be sent",
    tag: "Webhooks",
    scopes: ["admin"],
    reply: EventTypeList,
    locate: appOfPath,
    handle: async () => ({ body: eventTypeList }),
  }),

  ...definitionRoutes,
];

/** Custom events, and the catalogue of all kinds. */
export const events = feature({ make, routes, ...docs });

/** The catalogue of events, in the order of docs/events.md. */
export const eventTypeList: EventTypeList = {
  data: eventKinds.map((type) => {
    const { description, emitted, data, example } = eventTypes[type];
    return { type, description, emitted, schema: { ...data }, example };
  }),
};
