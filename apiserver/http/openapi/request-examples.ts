import type { CustomEvent, PublishEvents } from "#core/schema/events/custom.ts";
import { exampleAppId, examples as refs } from "#core/schema/events/refs.ts";
import type { CreateLiveActivityType, UpdateLiveActivityType } from "#core/schema/live-activities/type.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { CreateSubscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import type { UpdateUser, UpsertUser } from "#core/schema/people/user.ts";
import type {
  CreateWebhook,
  PreviewWebhook,
  RecoverWebhook,
  ReplayWebhook,
  UpdateWebhook,
} from "#core/schema/webhooks/webhook.ts";
import { profile } from "./example-parts.ts";

const notifications: CreateNotification[] = [
  {
    app_id: exampleAppId,
    idempotency_key: "order-4711-shipped",
    name: "Order shipped",
    labels: ["orders"],
    target: { include_external_ids: [refs.external_id] },
    headings: { en: "On its way", de: "Unterwegs" },
    contents: { en: "Your parcel has left us.", de: "Dein Paket hat uns verlassen." },
    data: { order: "4711" },
    ttl: 86_400,
  },
  {
    app_id: exampleAppId,
    target: { include_subscription_ids: [refs.subscription_id], channels: ["email"] },
    email_subject: "Your order",
    email_body: "<p>It is on its way.</p>",
    send_after: "2026-11-22T09:00:00+01:00",
  },
];

const phone: CreateSubscription = {
  channel: "ios_push",
  token: "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad",
  device: { model: "iPhone17,1", os_version: "26.1", timezone: "Europe/Berlin" },
};

const browser: CreateSubscription = {
  channel: "web_push",
  token: "https://push.example.com/send/dGhlIGJyb3dzZXI",
  web: {
    p256dh: "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    auth: "BTBZMqHH6r4Tts7J_aSIgg",
  },
  language: "en-GB",
};

const users: UpsertUser[] = [{ ...profile, subscriptions: [phone] }];

const events: CustomEvent[] = [
  { id: "paid-4711", name: "order.paid", external_id: refs.external_id, value: 19.9, properties: { order: "4711" } },
];

const contentState = {
  type: "object" as const,
  properties: { status: { type: "string" as const, enum: ["packed", "shipped", "delivered"] } },
  required: ["status"],
};

const activityTypes: CreateLiveActivityType[] = [
  { name: "OrderAttributes", description: "An order on its way", content_state_schema: contentState },
];

const webhooks: CreateWebhook[] = [
  {
    url: "https://shop.example.com/hooks",
    events: ["delivery.failed", "event.received"],
    event_filters: { event_names: ["order.paid"] },
    headers: { "X-Shop-Key": "s3cret" },
  },
];

const previews: PreviewWebhook[] = [
  {
    event_type: "event.received",
    data: { name: "order.paid", value: 19.9 },
    body_template: '{"text": {{ data.name | json }}}',
  },
];

const since = "2026-11-21T06:00:00.000Z";

/** Requests as they can be sent, with the ids of an app and of others put in. */
export const requestExamples = {
  CreateLiveActivityType: activityTypes,
  CreateNotification: notifications,
  CreateSubscription: [phone, browser],
  CreateWebhook: webhooks,
  CustomEvent: events,
  PreviewWebhook: previews,
  PublishEvents: [{ events }] satisfies PublishEvents[],
  RecoverWebhook: [{ since }] satisfies RecoverWebhook[],
  ReplayWebhook: [{ since, status: "dead" }] satisfies ReplayWebhook[],
  UpdateLiveActivityType: [{ description: null }] satisfies UpdateLiveActivityType[],
  UpdateSubscription: [{ status: "unsubscribed" }, { test_device: true }] satisfies UpdateSubscription[],
  UpdateUser: [{ tags: { tier: null }, language: "en" }] satisfies UpdateUser[],
  UpdateWebhook: [{ paused: true }] satisfies UpdateWebhook[],
  UpsertUser: users,
};
