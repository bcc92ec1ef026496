import { type Static, Type } from "typebox";
import { Closed } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Array: List, Boolean: Flag, Integer, Unknown } = Type;

/** Notifications of one batch at most. Source: docs/reference/notification-operations.md#batches. */
export const mostNotifications = 100;

/** Body of `POST /v1/notifications/batch`. Each item is checked by itself, as a `CreateNotification`. */
export const NotificationBatch = Closed({
  notifications: List(Unknown(), {
    minItems: 1,
    maxItems: mostNotifications,
    description: "each as in `POST /v1/notifications`, with its own `app_id` and `idempotency_key`",
  }),
});
export type NotificationBatch = Static<typeof NotificationBatch>;

/** What `POST /v1/notifications` would have answered to one item. */
export const BatchedNotification = Type.Object({
  index: Integer({ minimum: 0, description: "the item's place in `notifications`" }),
  status: Integer({ minimum: 200, maximum: 599, description: "202 for one that is accepted" }),
  replayed: Flag({ description: "whether its key was used before, and this is what was answered then" }),
  body: Type.Object(
    {},
    { additionalProperties: true, description: "the reply: `CreateNotificationResult`, or the error" },
  ),
});
export type BatchedNotification = Static<typeof BatchedNotification>;

/** Its reply: one result for each item, in their order. */
export const NotificationsBatched = Type.Object({
  results: List(BatchedNotification),
});
export type NotificationsBatched = Static<typeof NotificationsBatched>;

named({ NotificationBatch, BatchedNotification, NotificationsBatched });
