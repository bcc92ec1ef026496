import { eventTypes } from "#core/schema/events/catalogue.ts";
import { EventsAccepted, EventTypeList, PublishEvents } from "#core/schema/events/custom.ts";
import { eventKinds } from "#core/schema/events/envelope.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { routeOf } from "../http/route.ts";
import { definitionRoutes } from "./definitions/routes.ts";
import { docs } from "./openapi.ts";
import { type EventUse, eventUseCases } from "./use-cases.ts";

const route = routeOf<EventUse>({ tag: "Events", scopes: ["events:write"] });

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
    errors: ["HS_QUOTA_EXCEEDED"],
    handle: async ({ use, body, caller, resource: app, traceparent, once }) => {
      use.requireRoom(caller, body.events);
      return { body: await use.publish({ app, body, traceparent, onceId: once?.id ?? null }) };
    },
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
export const events = feature({ make: eventUseCases, routes, ...docs });

/** The catalogue of events, in the order of docs/events.md. */
export const eventTypeList: EventTypeList = {
  data: eventKinds.map((type) => {
    const { description, emitted, data, example } = eventTypes[type];
    return { type, description, emitted, schema: { ...data }, example };
  }),
};
