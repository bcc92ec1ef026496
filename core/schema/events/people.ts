import { Type } from "typebox";
import { Closed, DateTime, Nullable } from "../json/common.ts";
import { showAs } from "../json/show.ts";
import { Subscription } from "../people/subscription.ts";
import { User } from "../people/user.ts";
import { type EventType, eventData, exampleAppId, exampleRefs, examples, exampleTime } from "./refs.ts";

const { Array: List, Enum, Integer, Number: Decimal, String: Text } = Type;

/** A subscription as the REST interface shows it. */
export const subscriptionExample = showAs(Subscription, {
  id: examples.subscription_id,
  app_id: exampleAppId,
  user_id: examples.user_id,
  external_id: examples.external_id,
  channel: examples.channel,
  token_masked: "•••9f3c01ab",
  status: "subscribed",
  language: "en",
  test_device: false,
  device: { model: "iPhone17,1" },
  last_active_at: exampleTime,
  created_at: exampleTime,
  updated_at: exampleTime,
});

const subscription = (description: string, own: Record<string, unknown>): EventType => ({
  description,
  emitted: true,
  subject: ["subscription_id"],
  data: eventData(
    { always: ["subscription_id"] },
    { ...Subscription.properties, reason: Nullable(Text({ description: "why it changed; null when it was made" })) },
  ),
  example: { ...exampleRefs("subscription_id"), ...subscriptionExample, ...own },
});

export const subscriptionEvents = {
  "subscription.created": subscription("A subscription was registered; not for imports.", { reason: null }),
  "subscription.unsubscribed": subscription("A subscription takes no messages any more, by its owner's will.", {
    status: "unsubscribed",
    unsubscribed_at: exampleTime,
    reason: "api",
  }),
  "subscription.invalidated": subscription("A subscription's address is gone, as its provider says.", {
    status: "invalid",
    status_reason: "token_invalid",
    reason: "token_invalid",
  }),
};

/** A user as the REST interface shows them. */
export const userExample = {
  external_id: examples.external_id,
  id: examples.user_id,
  app_id: exampleAppId,
  aliases: { crm: "c-1" },
  tags: { tier: "gold" },
  properties: { visits: 3 },
  language: "en",
  timezone: "Europe/Berlin",
  country: "DE",
  location: { lat: 52.52, long: 13.405 },
  amount_spent: 129.5,
  session_time: 5_400,
  subscriptions: [subscriptionExample],
  first_seen_at: exampleTime,
  last_active_at: exampleTime,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const user = (description: string, changed: readonly string[]): EventType => ({
  description,
  emitted: true,
  subject: ["user_id"],
  data: eventData(
    { always: ["user_id"] },
    {
      ...User.properties,
      subscriptions: List(Closed(Subscription.properties)),
      changed: List(Text(), { description: "members that have another value now; none of a new user" }),
    },
  ),
  example: { ...exampleRefs("user_id", "external_id"), ...userExample, changed },
});

export const userEvents = {
  "user.created": user("A user was made.", []),
  "user.updated": user("A user was changed; changes within 5 s may come as one.", ["tags"]),
  "user.merged": {
    description: "A user became part of another one, whose ids are shown.",
    emitted: true,
    subject: ["user_id"],
    data: eventData(
      { always: ["user_id"], maybe: ["external_id"] },
      { merged_user_id: Text({ description: "the user that is gone; `user_id` is the one that was kept" }) },
    ),
    example: { ...exampleRefs("user_id", "external_id"), merged_user_id: "usr_01JDKQ4WSM0Z6BXE7M4SVJ9QCW" },
  },
  "user.deleted": {
    description: "A user and their subscriptions were deleted.",
    emitted: true,
    subject: ["user_id"],
    data: eventData({ always: ["user_id"], maybe: ["external_id"] }),
    example: exampleRefs("user_id", "external_id"),
  },
} satisfies Record<string, EventType>;

const Value = Nullable(Decimal({ description: "as the sender gave it, such as an amount" }));

export const customEvents = {
  "event.received": {
    description: "A custom event came in.",
    emitted: true,
    subject: ["user_id", "external_id"],
    data: eventData(
      { maybe: ["subscription_id", "user_id", "external_id"] },
      {
        name: Text(),
        properties: Type.Object({}, { additionalProperties: true, description: "as the sender gave them" }),
        value: Value,
        occurred_at: DateTime,
        source: Enum(["api", "sdk"]),
      },
    ),
    example: {
      ...exampleRefs("external_id"),
      name: "order.paid",
      properties: { order_id: "1", items: 2 },
      value: 19.9,
      occurred_at: exampleTime,
      source: "api",
    },
  },
  "conversion.created": {
    description: "A custom event counted as a conversion.",
    emitted: true,
    subject: ["user_id", "external_id"],
    data: eventData(
      {
        maybe: [
          "message_id",
          "campaign_id",
          "journey_id",
          "delivery_id",
          "subscription_id",
          "user_id",
          "external_id",
          "channel",
        ],
      },
      {
        event_id: Text({ description: "the `event.received` that it follows from" }),
        event_name: Text(),
        value: Decimal({ description: "as the sender gave it, such as an amount; else 1" }),
        attribution: Enum(["direct", "influenced", "unattributed"]),
        window_seconds: Nullable(Integer({ minimum: 0, description: "how long after the message it may come" })),
      },
    ),
    example: {
      ...exampleRefs("message_id", "delivery_id", "subscription_id", "user_id", "external_id", "channel"),
      event_id: "evt_01JDKQ4WSM5H2TVC8P0NYA7KZD",
      event_name: "order.paid",
      value: 19.9,
      attribution: "direct",
      window_seconds: 86_400,
    },
  },
} satisfies Record<string, EventType>;
