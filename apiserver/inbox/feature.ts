import { ChangeInbox, InboxChanged, InboxPage, InboxQuery } from "#core/schema/inbox/device.ts";
import { ownSubscription } from "../access/device.ts";
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
    query: InboxQuery,
    reply: InboxPage,
    handle: async ({ use, device, query }) => ({ body: await use.page(ownSubscription(device), query) }),
  }),

  route({
    id: "changeInbox",
    method: "POST",
    path: "/sdk/v1/inbox/state",
    summary: "Change the state of items of a person's inbox",
    body: ChangeInbox,
    reply: InboxChanged,
    handle: async ({ use, device, body }) => ({ body: await use.change(ownSubscription(device), body) }),
  }),
];

/** What messages left for a person to read later, on their devices. */
export const inbox = feature({ make: inboxUseCases, routes, ...docs });
