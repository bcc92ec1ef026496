import { examples, exampleTime } from "#core/schema/events/refs.ts";
import { patterns } from "#core/schema/json/patterns.ts";
import type { Route } from "../route.ts";
import { exampleIds } from "./example-parts.ts";

type Json = Record<string, unknown>;

/** Every parameter of an operation, each with an example. `linked` writes a schema, with references to named ones. */
export const parametersOf = (
  { path, query, headers = {} }: Pick<Route, "path" | "query" | "headers">,
  linked: (schema: unknown) => unknown,
): Json[] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...(inPaths[name] ?? unknownPart),
  })),
  ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    schema: linked(schema),
    example: exampleOf(name, schema),
  })),
  ...Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    ...(inHeaders[name] ?? unknownPart),
  })),
];

const unknownPart: Json = { schema: { type: "string", minLength: 1 } };

/** What is missing or another's is 404, whatever it looks like: ids are opaque. */
const part = (description: string, example: string, schema: Json = {}): Json => ({
  description,
  schema: { type: "string", minLength: 1, ...schema },
  example,
});

const inPaths: Record<string, Json> = {
  appId: part("id of an app", exampleIds.app),
  messageId: part("id of a notification", examples.message_id),
  label: part("`external_id`, `user_id` or an alias label", "external_id", { pattern: "^[a-z0-9_]{1,64}$" }),
  id: part("the user's id of that label", examples.external_id, { maxLength: 255 }),
  subscriptionId: part("id of a subscription", examples.subscription_id),
  activityType: part("id or name of a live activity type", "OrderAttributes"),
  webhookId: part("id of a webhook", exampleIds.webhook),
  deliveryId: part("id of a delivery to a webhook", exampleIds.webhookDelivery),
};

const inHeaders: Record<string, Json> = {
  "Idempotency-Key": {
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: patterns.idempotencyKey },
    example: "order-4711-shipped",
  },
};

const inQueries: Record<string, unknown> = {
  app_id: exampleIds.app,
  limit: 50,
  cursor: "eyJ2IjoxfQ.Zm9yZ2VkIHNpZ25hdHVyZQ",
  label: "orders",
  category: "transactional",
  idempotency_key: "order-4711-shipped",
  campaign_id: examples.campaign_id,
  template_id: "tpl_01JDKQ4WSM1H6YJ8RPKD5QWF3T",
  from: "2026-11-01T00:00:00.000Z",
  to: exampleTime,
  variant_id: "a",
  subscription_id: examples.subscription_id,
  user_id: examples.user_id,
  external_id: examples.external_id,
  suppression_reason: "unsubscribed",
  uncertain: true,
  event_type: "delivery.sent",
};

/** The first of the values that there are, or one of the table. */
const exampleOf = (name: string, schema: object): unknown =>
  "enum" in schema && Array.isArray(schema.enum) ? schema.enum[0] : inQueries[name];
