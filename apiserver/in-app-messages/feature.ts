import {
  InAppEvent,
  InAppEventAccepted,
  InAppForDevice,
  InAppForDeviceQuery,
  InAppMessageCounts,
} from "#core/schema/in-app-messages/device.ts";
import {
  CreateInAppMessage,
  InAppMessage,
  InAppMessageListQuery,
  InAppMessagePage,
  UpdateInAppMessage,
} from "#core/schema/in-app-messages/in-app-message.ts";
import type { InAppMessageRow } from "#core/storage/in-app-messages/in-app-messages.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { ownSubscription } from "../access/device.ts";
import { feature } from "../http/feature.ts";
import { existing } from "../http/locate.ts";
import { etagOf } from "../http/protocol/etag.ts";
import { type Located, routeOf } from "../http/route.ts";
import { locateSetting, settingRoutes } from "../settings/routes.ts";
import { docs } from "./openapi.ts";
import { type InAppUse, inAppUseCases } from "./use-cases.ts";

const schemas = {
  create: CreateInAppMessage,
  update: UpdateInAppMessage,
  view: InAppMessage,
  made: InAppMessage,
  list: InAppMessagePage,
  query: InAppMessageListQuery,
};

const { list, create, get, update, remove } = settingRoutes<InAppMessageRow, typeof schemas>({
  name: "InAppMessage",
  what: "in-app message",
  tag: "In-app messages",
  path: "/v1/apps/{appId}/in-app-messages",
  parameter: "inAppMessageId",
  idKind: "inAppMessage",
  schemas,
  summaries: {
    list: "List the in-app messages of an app",
    create: "Make an in-app message",
    get: "Show an in-app message",
    update: "Change an in-app message",
    remove: "Delete an in-app message",
  },
  errors: ["HS_ALREADY_EXISTS"],
});

const route = routeOf<InAppUse>({ tag: "In-app messages", scopes: "device" });

const others = [
  route({
    id: "getInAppMessageCounts",
    method: "GET",
    path: "/v1/apps/{appId}/in-app-messages/{inAppMessageId}/counts",
    summary: "Show what people did with an in-app message",
    scopes: ["admin"],
    reply: InAppMessageCounts,
    locate: locateSetting<InAppMessageRow>({ what: "in-app message", parameter: "inAppMessageId" }),
    handle: async ({ use, resource }) => ({ body: await use.counts(resource) }),
  }),

  route({
    id: "getInAppMessagesForDevice",
    method: "GET",
    path: "/sdk/v1/in-app-messages",
    summary: "Show a device the in-app messages that are for its person",
    hasEtag: true,
    query: InAppForDeviceQuery,
    reply: InAppForDevice,
    handle: async ({ use, device, query }) => {
      const body = await use.ofDevices.fetch(ownSubscription(device), query);
      const { as_of: _asOf, ...shown } = body; // it is another each time
      return { body, headers: { ETag: etagOf(JSON.stringify(shown)) } };
    },
  }),

  route({
    id: "reportInAppEvent",
    method: "POST",
    path: "/sdk/v1/in-app-messages/{inAppMessageId}/events",
    summary: "Report what a person did with an in-app message",
    status: [202],
    body: InAppEvent,
    reply: InAppEventAccepted,
    locate: async ({ use, device, params }: Located<InAppUse>) =>
      existing(await use.find(ofRow(ownSubscription(device)), params["inAppMessageId"] ?? ""), "in-app message"),
    handle: async ({ use, device, body, resource: message, traceparent }) => ({
      body: await use.ofDevices.report({ subscription: ownSubscription(device), message, traceparent }, body),
    }),
  }),
];

/** What apps show to people while they use them. */
export const inAppMessages = feature({
  make: inAppUseCases,
  routes: [list, create, get, update, remove, ...others],
  ...docs,
});
