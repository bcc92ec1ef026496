import { allDefinitions } from "#core/channels/all.ts";
import { subscriptionExample, userExample } from "#core/schema/events/people.ts";
import { examples as refs } from "#core/schema/events/refs.ts";
import { patterns } from "#core/schema/json/patterns.ts";
import type { UpsertedUser } from "#core/schema/people/batch.ts";
import type { MergeUser, UpdateIdentity, UserReference } from "#core/schema/people/identity.ts";
import type { CreateSubscription, UpdateSubscription } from "#core/schema/people/subscription.ts";
import type { UpdateUser, UpsertUser } from "#core/schema/people/user.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import type { Docs, Json } from "../http/feature.ts";
import { changed, having } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";

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

const { external_id, aliases, tags, properties, language, timezone, country } = userExample;
const profile = { external_id, aliases, tags, properties, language, timezone, country };
const users: UpsertUser[] = [{ ...profile, subscriptions: [phone] }];

const reserved = { field: "external_id", message: "is a reserved value, not an id of one user" };
const refusedUser: UpsertedUser = {
  index: 1,
  id: null,
  created: false,
  error: {
    code: "HS_VALIDATION_ERROR",
    message: `${reserved.field}: ${reserved.message}`,
    details: { ...reserved, errors: [reserved] },
  },
};

const oneAlias = { ...having("aliases"), properties: { aliases: { type: "object", minProperties: 1 } } };

const addresses = allDefinitions.map(({ name, address }) => ({
  type: "object",
  properties: { channel: { const: name }, token: { type: "string", ...address.schema } },
}));

/** What is known of a device, with the one member of a form of its own. */
const device = (schema: Json): Json => ({
  ...schema,
  properties: { timezone: { type: "string", pattern: patterns.timeZone, description: "IANA name" } },
});

/** What the OpenAPI document says of users and subscriptions beside their operations. */
export const docs: Docs = {
  tags: {
    "Users and subscriptions":
      "People, their aliases and tags, and the addresses and devices that they are reached by.",
  },
  examples: {
    CreateSubscription: [phone, browser],
    Identity: [{ user_id: refs.user_id, external_id, aliases }],
    Subscription: [subscriptionExample],
    MergeUser: [{ into: { label: "external_id", id: "customer-4712" } }] satisfies MergeUser[],
    UpdateIdentity: [{ aliases: { crm: "c-2", shop: null } }] satisfies UpdateIdentity[],
    UpdateSubscription: [{ status: "unsubscribed" }, { test_device: true }] satisfies UpdateSubscription[],
    UpdateUser: [{ tags: { tier: null }, language: "en" }] satisfies UpdateUser[],
    UpsertUser: users,
    UpsertUsers: [{ users: [{ external_id: "customer-1", tags: { tier: "gold" } }, { external_id: "null" }] }],
    UpsertedUser: [{ index: 0, id: refs.user_id, created: true, error: null }],
    UsersUpserted: [{ results: [{ index: 0, id: refs.user_id, created: true, error: null }, refusedUser] }],
    User: [userExample],
    UserReference: [{ label: "external_id", id: refs.external_id }] satisfies UserReference[],
  },
  pathParameters: {
    label: pathPart("`external_id`, `user_id` or an alias label", "external_id", { pattern: patterns.aliasLabel }),
    id: pathPart("the user's id of that label", refs.external_id, { maxLength: 255 }),
    subscriptionId: pathPart("id of a subscription", refs.subscription_id),
    channel: pathPart("the subscription's channel", "email", { enum: [...channels] }),
    aliasLabel: pathPart("`external_id` or an alias label", "crm", { pattern: patterns.aliasLabel }),
    token: pathPart("the subscription's token, percent-encoded", "anna%40example.com", { maxLength: 4096 }),
  },
  narrowed: {
    CreateSubscription: (schema) => ({ ...changed(schema, { device }), oneOf: addresses }),
    UpdateSubscription: (schema) => changed(schema, { device }),
    UpsertUsers: (schema) =>
      changed(schema, { users: (list) => ({ ...list, items: { $ref: "#/components/schemas/UpsertUser" } }) }),
    UpsertUser: (schema) => ({ ...schema, anyOf: [having("external_id"), oneAlias] }),
  },
};
