import { EventsAccepted, EventTypeList, PublishEvents } from "#core/schema/events/custom.ts";
import { appOfPath } from "../access/locate.ts";
import { route } from "../http/route.ts";
import { eventTypeList } from "./event-types.ts";

export const eventRoutes = [
  route({
    id: "publishEvents",
    method: "POST",
    path: "/v1/apps/{appId}/events",
    summary: "Accept custom events",
    tag: "Events",
    scopes: ["events:write"],
    status: [202],
    body: PublishEvents,
    reply: EventsAccepted,
    locate: appOfPath,
    repeatable: {},
    handle: async ({ use, body, resource: app, traceparent, once }) => ({
      body: await use.publishEvents({ app, body, traceparent, onceId: once?.id ?? null }),
    }),
  }),

  route({
    id: "listEventTypes",
    method: "GET",
    path: "/v1/apps/{appId}/webhooks/event-types",
    summary: "List the kinds of events that endpoints can be sent",
    tag: "Webhooks",
    scopes: ["admin"],
    status: [200],
    reply: EventTypeList,
    locate: appOfPath,
    handle: async () => ({ body: eventTypeList }),
  }),
];
