import { allDefinitions } from "#core/channels/all.ts";
import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { CreateSubscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import type { UpdateUser, UpsertUser } from "#core/schema/people/user.ts";
import type { Docs } from "../http/feature.ts";
import { changed, having, sendable } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";

/** Of a user, what a request may say and a reply shows. */
const profile = {
  external_id: refs.external_id,
  aliases: { crm: "A-0815" },
  tags: { tier: "gold" },
  properties: { cart: { items: 2 } },
  language: "de",
  timezone: "Europe/Berlin",
  country: "DE",
};

const subscription = {
  id: refs.subscription_id,
  app_id: exampleAppId,
  user_id: refs.user_id,
  external_id: refs.external_id,
  channel: "ios_push",
  token_masked: "•••9f3c01ab",
  status: "subscribed",
  status_reason: null,
  language: null,
  test_device: false,
  device: { model: "iPhone17,1", os_version: "26.1" },
  last_active_at: exampleTime,
  unsubscribed_at: null,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const user = {
  id: refs.user_id,
  app_id: exampleAppId,
  ...profile,
  subscriptions: [subscription],
  first_seen_at: exampleTime,
  last_active_at: exampleTime,
  created_at: exampleTime,
  updated_at: exampleTime,
};

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

const oneAlias = { ...having("aliases"), properties: { aliases: { type: "object", minProperties: 1 } } };

const addresses = allDefinitions.map(({ name, address }) => ({
  type: "object",
  properties: { channel: { const: name }, token: { type: "string", ...address.schema } },
}));

/** What the OpenAPI document says of users and subscriptions beside their operations. */
export const docs: Docs = {
  examples: {
    CreateSubscription: [phone, browser],
    Subscription: [subscription],
    UpdateSubscription: [{ status: "unsubscribed" }, { test_device: true }] satisfies UpdateSubscription[],
    UpdateUser: [{ tags: { tier: null }, language: "en" }] satisfies UpdateUser[],
    UpsertUser: users,
    User: [user],
  },
  pathParameters: {
    label: pathPart("`external_id`, `user_id` or an alias label", "external_id", { pattern: "^[a-z0-9_]{1,64}$" }),
    id: pathPart("the user's id of that label", refs.external_id, { maxLength: 255 }),
    subscriptionId: pathPart("id of a subscription", refs.subscription_id),
  },
  narrowed: {
    CreateSubscription: (schema) => ({ ...changed(schema, { channel: sendable }), oneOf: addresses }),
    UpsertUser: (schema) => ({ ...schema, anyOf: [having("external_id"), oneAlias] }),
  },
};
