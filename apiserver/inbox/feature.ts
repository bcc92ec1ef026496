import { ChangeInbox, InboxChanged, InboxPage, InboxQuery } from "#core/schema/inbox/device.ts";
import { InboxEvent, InboxStream } from "#core/schema/inbox/stream.ts";
import { readingPerson } from "../access/person.ts";
import { feature } from "../http/feature.ts";
import { routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { inboxUseCases } from "./use-cases.ts";

const route = routeOf<ReturnType<typeof inboxUseCases>>({ tag: "Inbox", scopes: "device" });

const routes = [
  route({
    id: "getInbox",
    method: "GET",
    path: "/sdk/v1/inbox",
    summary: "Show a device the inbox of its person",
    hasEtag: true,
    query: InboxQuery,
    reply: InboxPage,
    handle: async ({ use, device, query }) => ({ body: await use.page(readingPerson(device), query) }),
  }),

  route({
    id: "changeInbox",
    method: "POST",
    path: "/sdk/v1/inbox/state",
    summary: "Change the state of items of a person's inbox",
    body: ChangeInbox,
    reply: InboxChanged,
    handle: async ({ use, device, body }) => ({ body: await use.change(readingPerson(device), body) }),
  }),

  route({
    id: "streamInbox",
    method: "GET",
    path: "/sdk/v1/inbox/stream",
    summary: "Tell a device what changes in its person's inbox, as it happens",
    headers: { "Last-Event-ID": "id of the last event: what changed since is told first" },
    reply: InboxStream,
    events: InboxEvent,
    handle: async ({ use, device, header }) => ({
      body: "",
      stream: use.stream(readingPerson(device), {
        lastEventId: header("Last-Event-ID"),
        untilMs: device.identity?.expiresAtMs,
      }),
    }),
  }),
];

/** What messages left for a person to read later, on their devices. */
export const inbox = feature({ make: inboxUseCases, routes, ...docs });
