import { Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { showAs } from "../json/show.ts";
import { Message } from "../messages/message.ts";
import { deliveryErrorCodes } from "../vocabulary/delivery-error-codes.ts";
import { type EventType, eventData, exampleAppId, exampleRefs, examples, exampleTime } from "./refs.ts";

const { Boolean: Flag, Enum, Integer, Literal, Optional, String: Text } = Type;

const { counts, requested_by, ...messageMembers } = Message.properties;

const messageData = eventData(
  { always: ["message_id"] },
  {
    ...messageMembers,
    counts: Closed(counts.properties),
    requested_by: Closed(requested_by.properties),
    truncated: Optional(Literal(true, { description: "long texts and lists of `content` and `target` were cut" })),
  },
);

const message = (kind: { status: Message["status"]; description: string; own?: Partial<Message> }): EventType => ({
  description: kind.description,
  emitted: true,
  subject: ["message_id"],
  data: messageData,
  example: {
    ...exampleRefs("message_id"),
    ...showAs(Message, {
      id: examples.message_id,
      app_id: exampleAppId,
      source: "api",
      status: kind.status,
      name: "Order shipped",
      content: { push: { title: { en: "On its way" }, body: { en: "Your parcel has left us." } } },
      target: { subscription_ids: [examples.subscription_id] },
      options: {},
      labels: ["orders"],
      counts: {},
      requested_by: { type: "api_key", id: "key_01JDKQ4WSM8V5CRA2E9MHX3TNB" },
      created_at: exampleTime,
      updated_at: exampleTime,
      ...kind.own,
    }),
  },
});

export const messageEvents = {
  "message.queued": message({ status: "queued", description: "A notification was accepted." }),
  "message.completed": message({
    status: "completed",
    description: "Every recipient of a notification has an outcome.",
    own: { counts: { targeted: 1, sent: 1 }, started_at: exampleTime, completed_at: exampleTime },
  }),
  "message.failed": message({
    status: "failed",
    description: "A notification reached nobody, or could not be sent at all.",
    own: {
      counts: { targeted: 1, failed: 1 },
      error: "TOKEN_UNREGISTERED",
      started_at: exampleTime,
      completed_at: exampleTime,
    },
  }),
};

const ofDelivery = {
  always: ["message_id", "delivery_id", "subscription_id", "user_id", "channel"],
  maybe: ["campaign_id", "journey_id", "external_id"],
} as const;

const deliveryExample = exampleRefs(
  "message_id",
  "delivery_id",
  "subscription_id",
  "user_id",
  "external_id",
  "channel",
);

type Kind = Pick<EventType, "description" | "example"> & { own: Type.TProperties };

const delivery = ({ description, own, example }: Kind): EventType => ({
  description,
  emitted: true,
  subject: ["delivery_id"],
  data: eventData(ofDelivery, own),
  example: { ...deliveryExample, ...example },
});

const sent = {
  provider: Nullable(Text({ description: "who took it on" })),
  provider_message_id: Nullable(Text({ description: "its id at the provider" })),
  variant_id: Nullable(Text()),
  fallback_of: Nullable(Text({ description: "of a fallback: the delivery of the same person that it comes after" })),
  sms_segments: Nullable(Integer({ minimum: 1 })),
  uncertain: Optional(Literal(true, { description: "the provider's answer was lost; counted as sent, not repeated" })),
};
const sentExample = {
  provider: "apns",
  provider_message_id: "8b1a-4f0e",
  variant_id: null,
  fallback_of: null,
  sms_segments: null,
};
const ProviderCode = Nullable(Text({ description: "the provider's own code, as it came" }));
const optOut = {
  reason: Nullable(Text()),
  source: Nullable(Text({ description: "where it was said: the link in the mail, the mail provider, …" })),
};

export const deliveryEvents = {
  "delivery.sent": delivery({
    description: "The provider accepted a delivery.",
    own: sent,
    example: sentExample,
  }),
  "delivery.delivered": delivery({
    description: "The device or the mail server confirmed a delivery.",
    own: { ...sent, delivered_at: DateTime },
    example: { ...sentExample, delivered_at: exampleTime },
  }),
  "delivery.failed": delivery({
    description: "A delivery ended without reaching its recipient.",
    own: {
      error_code: Nullable(Enum([...deliveryErrorCodes])),
      error_message: Nullable(Text()),
      provider_code: ProviderCode,
      retryable: Literal(false, { description: "it is not tried again" }),
    },
    example: {
      error_code: "TOKEN_UNREGISTERED",
      error_message: "the token is no longer active",
      provider_code: "Unregistered",
      retryable: false,
    },
  }),
  "delivery.opened": delivery({
    description: "A delivery was opened for the first time.",
    own: {
      opened_at: DateTime,
      machine: Flag({ description: "opened by a program, such as a mail scanner" }),
      user_agent: Nullable(Text()),
    },
    example: { opened_at: exampleTime, machine: false, user_agent: null },
  }),
  "delivery.clicked": delivery({
    description: "A link or button of a delivery was used.",
    own: {
      url: Nullable(Text()),
      button_id: Nullable(Text()),
      first: Flag({ description: "the delivery's first click" }),
    },
    example: { url: "https://shop.example/orders/1", button_id: null, first: true },
  }),
  "delivery.bounced": delivery({
    description: "The recipient's mail server refused a mail.",
    own: {
      bounce_type: Enum(["hard", "soft"], { description: "hard: the address does not take mail at all" }),
      provider_code: ProviderCode,
    },
    example: { channel: "email", bounce_type: "hard", provider_code: "550 5.1.1" },
  }),
  "delivery.complained": delivery({
    description: "The recipient reported a mail as unwanted.",
    own: optOut,
    example: { channel: "email", reason: "abuse", source: "feedback_loop" },
  }),
  "delivery.unsubscribed": delivery({
    description: "The recipient unsubscribed by a link or header of a delivery, or at its provider.",
    own: optOut,
    example: { channel: "email", reason: null, source: "one_click" },
  }),
};

const inApp = (description: string, clickId: string | null): EventType => ({
  description,
  emitted: true,
  subject: ["subscription_id"],
  data: eventData(
    {
      always: ["subscription_id", "user_id"],
      maybe: ["message_id", "campaign_id", "journey_id", "delivery_id", "external_id", "channel"],
    },
    {
      in_app_message_id: Text(),
      variant_id: Nullable(Text()),
      page_id: Nullable(Text()),
      click_id: Nullable(Text()),
    },
  ),
  example: {
    ...exampleRefs("subscription_id", "user_id", "external_id"),
    in_app_message_id: "iam_01JDKQ4WSM3F7KPD1Y5WBX8RGT",
    variant_id: null,
    page_id: "welcome",
    click_id: clickId,
  },
});

export const inAppEvents = {
  "in_app.impression": inApp("An in-app message was shown.", null),
  "in_app.clicked": inApp("A button of an in-app message was used.", "start"),
  "in_app.dismissed": inApp("An in-app message was closed.", null),
};
