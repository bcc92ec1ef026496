import { deliveryWithTries } from "#core/domain/messages/delivery-view.ts";
import { timelineOf } from "#core/domain/messages/timeline.ts";
import { messageView } from "#core/domain/messages/views.ts";
import { NotFound } from "#core/errors.ts";
import { NotificationBatch, NotificationsBatched } from "#core/schema/messages/batch.ts";
import { DeliveryListQuery, DeliveryPage, DeliveryWithTries } from "#core/schema/messages/delivery.ts";
import { EstimateAudience, EstimateAudienceResult } from "#core/schema/messages/estimate.ts";
import {
  CancelQuery,
  CreateNotificationResult,
  Message,
  MessageListQuery,
  MessagePage,
  MessageQuery,
} from "#core/schema/messages/message.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";
import { MessageTimeline } from "#core/schema/messages/timeline.ts";
import { NotificationValidated, ValidateNotification, ValidateQuery } from "#core/schema/messages/validate.ts";
import { type MessageRow } from "#core/storage/messages/message-row.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { feature } from "../http/feature.ts";
import { idempotencyKey, repeatHeaders } from "../http/idempotency-key.ts";
import { appOfBody, appOfPath, appOfQuery, existing, requireApp } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type MessageUse, messageUseCases } from "./use-cases.ts";

const readers = ["notifications:write", "analytics:read"] as const;

const route = routeOf<MessageUse>({ tag: "Notifications", scopes: ["notifications:write"] });

/** The message that the path names, in an app that the caller may use. */
const messageOfPath = async ({ use, params, query, caller, signal }: Located<MessageUse>): Promise<MessageRow> => {
  const message = await use.find(caller.tenant._id, params["messageId"] ?? "", signal);
  const { app_id: appId } = query;
  if (message === null || (typeof appId === "string" && appId !== message.app_id)) throw new NotFound("notification");
  const { app_ids: appIds } = caller.key;
  if (appIds !== null && !appIds.includes(message.app_id)) throw new NotFound("notification");
  return message;
};

/** Finds the app of each item of a batch, as that of a single notification is found. */
const appsOfItems = async (asked: Located<MessageUse>) => (item: unknown) => appOfBody({ ...asked, body: item });

/** The delivery that the path names, in its app. */
const deliveryOfPath = async (asked: Located<MessageUse>) => {
  const app = await appOfPath(asked);
  const id = asked.params["messageDeliveryId"] ?? "";
  return existing(await asked.use.findDelivery(ofApp(app), id, asked.signal), "delivery");
};

const routes = [
  route({
    id: "createNotification",
    method: "POST",
    path: "/v1/notifications",
    summary: "Accept a notification for delivery",
    status: [202],
    headers: { "Idempotency-Key": "the same key within 24 hours gives the same message; as body `idempotency_key`" },
    errors: [
      "HS_CHANNEL_NOT_CONFIGURED",
      "HS_IDEMPOTENCY_KEY_REUSED",
      "HS_IDEMPOTENCY_IN_PROGRESS",
      "HS_QUOTA_EXCEEDED",
    ],
    body: CreateNotification,
    reply: CreateNotificationResult,
    locate: appOfBody,
    handle: async ({ use, caller, body, resource, header, traceparent, signal }) => {
      const app = requireApp(resource);
      await use.limit(caller, app);
      const key = idempotencyKey(header("Idempotency-Key"), body.idempotency_key);
      const { result, replayed, mismatch } = await use.accept({ caller, app, body, key, traceparent }, signal);
      return { body: result, headers: repeatHeaders({ replayed, mismatch }) };
    },
  }),

  route({
    id: "estimateAudience",
    method: "POST",
    path: "/v1/notifications/estimate",
    summary: "Count whom a target would reach; nothing is sent",
    errors: ["HS_CHANNEL_NOT_CONFIGURED"],
    body: EstimateAudience,
    reply: EstimateAudienceResult,
    locate: appOfBody,
    handle: async ({ use, body, resource }) => ({ body: await use.estimateAudience(requireApp(resource), body) }),
  }),

  route({
    id: "validateNotification",
    method: "POST",
    path: "/v1/notifications/validate",
    summary: "Say what would become of a notification; nothing is sent",
    body: ValidateNotification,
    query: ValidateQuery,
    reply: NotificationValidated,
    locate: appOfBody,
    handle: async ({ use, caller, ip, requestId, body, query: { as }, resource }) => ({
      body: await use.validate({ caller, ip, requestId, app: requireApp(resource), body, as }),
    }),
  }),

  route({
    id: "createNotifications",
    method: "POST",
    path: "/v1/notifications/batch",
    summary: "Accept up to 100 notifications, each by itself",
    body: NotificationBatch,
    reply: NotificationsBatched,
    locate: appsOfItems,
    handle: async ({
      use,
      caller,
      body: { notifications: items },
      resource: appOf,
      requestId,
      traceparent,
      signal,
    }) => ({
      body: await use.acceptBatch({ caller, items, appOf, requestId, traceparent }, signal),
    }),
  }),

  route({
    id: "listNotifications",
    method: "GET",
    path: "/v1/notifications",
    summary: "List the notifications of an app",
    scopes: readers,
    query: MessageListQuery,
    reply: MessagePage,
    locate: appOfQuery,
    handle: async ({ use, query, resource, signal }) => ({
      body: await use.list(requireApp(resource), query, signal),
    }),
  }),

  route({
    id: "getNotification",
    method: "GET",
    path: "/v1/notifications/{messageId}",
    summary: "Show a notification and its counters",
    scopes: readers,
    query: MessageQuery,
    reply: Message,
    locate: messageOfPath,
    handle: async ({ resource }) => ({ body: messageView(resource) }),
  }),

  route({
    id: "cancelNotification",
    method: "DELETE",
    path: "/v1/notifications/{messageId}",
    summary: "Cancel a notification of which nothing was sent; by force also the rest of another",
    errors: ["HS_CONFLICT"],
    query: CancelQuery,
    reply: Message,
    locate: messageOfPath,
    handle: async ({ use, caller, query, resource, signal }) => {
      const by = { type: "api_key" as const, id: caller.key._id };
      return { body: messageView(await use.cancel(resource, { by, isForced: query.force === true }, signal)) };
    },
  }),

  route({
    id: "showTimeline",
    method: "GET",
    path: "/v1/notifications/{messageId}/timeline",
    summary: "List the changes of a notification's state",
    scopes: readers,
    query: MessageQuery,
    reply: MessageTimeline,
    locate: messageOfPath,
    handle: async ({ resource }) => ({ body: { data: timelineOf(resource) } }),
  }),

  route({
    id: "listDeliveries",
    method: "GET",
    path: "/v1/notifications/{messageId}/deliveries",
    summary: "List what became of each recipient",
    scopes: readers,
    query: DeliveryListQuery,
    reply: DeliveryPage,
    locate: messageOfPath,
    handle: async ({ use, query, resource, signal }) => ({ body: await use.listDeliveries(resource, query, signal) }),
  }),

  route({
    id: "getDelivery",
    method: "GET",
    path: "/v1/apps/{appId}/deliveries/{messageDeliveryId}",
    summary: "Show what became of one recipient, with each call of the provider",
    scopes: readers,
    reply: DeliveryWithTries,
    locate: deliveryOfPath,
    handle: async ({ resource }) => ({ body: deliveryWithTries(resource) }),
  }),
];

/** Notifications and what became of them. */
export const messages = feature({ make: messageUseCases, routes, ...docs });
