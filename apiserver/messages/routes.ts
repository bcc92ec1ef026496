import { DeliveryListQuery, DeliveryPage } from "#core/schema/messages/delivery.ts";
import {
  CreateNotificationResult,
  Message,
  MessageListQuery,
  MessagePage,
  MessageQuery,
} from "#core/schema/messages/message.ts";
import { CreateNotification } from "#core/schema/messages/notification.ts";
import { deliveryView } from "#core/storage/messages/delivery-list.ts";
import { messageView } from "#core/storage/messages/view.ts";
import { appOfBody, appOfQuery, messageOfPath, requireApp } from "../access/locate.ts";
import { idempotencyKey, repeatHeaders } from "../http/idempotency-key.ts";
import { readPage } from "../http/pages.ts";
import { route } from "../http/route.ts";
import { listMessages } from "./list.ts";

const tag = "Notifications";
const readers = ["notifications:write", "analytics:read"] as const;

export const notificationRoutes = [
  route({
    id: "createNotification",
    method: "POST",
    path: "/v1/notifications",
    summary: "Accept a notification for delivery",
    tag,
    scopes: ["notifications:write"],
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
      await use.limits.notification(caller, app);
      const key = idempotencyKey(header("Idempotency-Key"), body.idempotency_key);
      const { result, replayed, mismatch } = await use.accept({ caller, app, body, key, traceparent }, signal);
      return { body: result, headers: repeatHeaders({ replayed, mismatch }) };
    },
  }),

  route({
    id: "listNotifications",
    method: "GET",
    path: "/v1/notifications",
    summary: "List the notifications of an app",
    tag,
    scopes: readers,
    status: [200],
    query: MessageListQuery,
    reply: MessagePage,
    locate: appOfQuery,
    handle: async ({ use, query, resource, signal }) => ({
      body: await listMessages(use, requireApp(resource), query, signal),
    }),
  }),

  route({
    id: "getNotification",
    method: "GET",
    path: "/v1/notifications/{messageId}",
    summary: "Show a notification and its counters",
    tag,
    scopes: readers,
    status: [200],
    query: MessageQuery,
    reply: Message,
    locate: messageOfPath,
    handle: async ({ resource }) => ({ body: messageView(resource) }),
  }),

  route({
    id: "cancelNotification",
    method: "DELETE",
    path: "/v1/notifications/{messageId}",
    summary: "Cancel a notification that has not begun",
    tag,
    scopes: ["notifications:write"],
    status: [200],
    errors: ["HS_CONFLICT"],
    query: MessageQuery,
    reply: Message,
    locate: messageOfPath,
    handle: async ({ use, resource, signal }) => ({ body: messageView(await use.cancel(resource, signal)) }),
  }),

  route({
    id: "listDeliveries",
    method: "GET",
    path: "/v1/notifications/{messageId}/deliveries",
    summary: "List what became of each recipient",
    tag,
    scopes: readers,
    status: [200],
    query: DeliveryListQuery,
    reply: DeliveryPage,
    locate: messageOfPath,
    handle: async ({ use, query, resource: message, signal }) => {
      const { sort = "created_at", cursor, limit, app_id: _, ...filters } = query;
      const { tenant_id: tenantId, _id: id } = message;
      return {
        body: await readPage({
          cursors: use.cursors,
          scope: { list: `deliveries/${id}`, sort, filters },
          cursor,
          limit,
          read: (page) => use.deliveries.page({ tenantId, messageId: id, filters }, page, signal),
          keyOf: (row) => row.position,
          view: deliveryView,
        }),
      };
    },
  }),
];
