import type { TSchema } from "typebox";
import { type ErrorCode, errorStatuses } from "#core/errors.ts";
import { CustomEvent, EventsAccepted, EventTypeList, PublishEvents } from "#core/schema/custom-event.ts";
import { Delivery, DeliveryPage } from "#core/schema/delivery.ts";
import { ErrorReply, OkReply } from "#core/schema/error.ts";
import {
  CreateLiveActivityType,
  LiveActivityProperty,
  LiveActivityType,
  LiveActivityTypeList,
  UpdateLiveActivityType,
} from "#core/schema/live-activity-type.ts";
import { CreateNotificationResult, Message, MessagePage } from "#core/schema/message.ts";
import { CreateNotification } from "#core/schema/notification.ts";
import { CreateSubscription, Subscription, UpdateSubscription } from "#core/schema/subscription.ts";
import { UpdateUser, UpsertUser, User } from "#core/schema/user.ts";
import {
  CreateWebhook,
  PreviewWebhook,
  RecoverWebhook,
  Recovery,
  ReplayWebhook,
  UpdateWebhook,
  Webhook,
  WebhookAttempt,
  WebhookAttemptList,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookHealthReport,
  WebhookList,
  WebhookPreviewResult,
  WebhookWithSecret,
} from "#core/schema/webhook.ts";
import { WebhookFilters } from "#core/schema/webhook-filters.ts";
import { serviceVersion } from "./middleware/request-id.ts";
import { mayHaveBody, type Route } from "./route.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of a table of routes: the schemas are the ones that validate. */
export const openapi = (routes: readonly Route[]): { openapi: string } & Json => ({
  openapi: "3.1.0",
  info: {
    title: "Herald",
    version: serviceVersion,
    description: "Multi-channel messaging. Members and enum values may be added: clients ignore what they do not know.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  security: [{ apiKey: [] }],
  paths: pathsOf(routes),
  components: {
    securitySchemes: { apiKey: { type: "http", scheme: "bearer", description: "an API key; Key and Basic work too" } },
    schemas: Object.fromEntries(named.map(([name, schema]) => [name, inside(schema)])),
    headers: Object.fromEntries(
      Object.entries(replyHeaders).map(([name, [type, description]]) => [name, { schema: { type }, description }]),
    ),
    responses: { Error: { description: "an error", headers: headerRefs, content: json(refTo("Error")) } },
  },
});

/** Schemas that the document names; found again by identity. */
const named: readonly (readonly [string, TSchema])[] = [
  ["CreateLiveActivityType", CreateLiveActivityType],
  ["CreateNotification", CreateNotification],
  ["CreateNotificationResult", CreateNotificationResult],
  ["CreateSubscription", CreateSubscription],
  ["CreateWebhook", CreateWebhook],
  ["CustomEvent", CustomEvent],
  ["Delivery", Delivery],
  ["DeliveryPage", DeliveryPage],
  ["Error", ErrorReply],
  ["EventTypeList", EventTypeList],
  ["EventsAccepted", EventsAccepted],
  ["LiveActivityProperty", LiveActivityProperty],
  ["LiveActivityType", LiveActivityType],
  ["LiveActivityTypeList", LiveActivityTypeList],
  ["Message", Message],
  ["MessagePage", MessagePage],
  ["Ok", OkReply],
  ["PreviewWebhook", PreviewWebhook],
  ["PublishEvents", PublishEvents],
  ["RecoverWebhook", RecoverWebhook],
  ["Recovery", Recovery],
  ["ReplayWebhook", ReplayWebhook],
  ["Subscription", Subscription],
  ["UpdateLiveActivityType", UpdateLiveActivityType],
  ["UpdateSubscription", UpdateSubscription],
  ["UpdateUser", UpdateUser],
  ["UpdateWebhook", UpdateWebhook],
  ["UpsertUser", UpsertUser],
  ["User", User],
  ["Webhook", Webhook],
  ["WebhookAttempt", WebhookAttempt],
  ["WebhookAttemptList", WebhookAttemptList],
  ["WebhookDelivery", WebhookDelivery],
  ["WebhookDeliveryDetail", WebhookDeliveryDetail],
  ["WebhookDeliveryPage", WebhookDeliveryPage],
  ["WebhookFilters", WebhookFilters],
  ["WebhookHealthReport", WebhookHealthReport],
  ["WebhookList", WebhookList],
  ["WebhookPreviewResult", WebhookPreviewResult],
  ["WebhookWithSecret", WebhookWithSecret],
];

const names = new Map<TSchema, string>(named.map(([name, schema]) => [schema, name]));

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** A schema with every named one below it as a reference. */
const linked = (schema: unknown): unknown => {
  if (typeof schema !== "object" || schema === null) return schema;
  const name = names.get(schema);
  return name === undefined ? inside(schema) : refTo(name);
};

const inside = (schema: object): unknown =>
  Array.isArray(schema)
    ? schema.map(linked)
    : Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, linked(value)]));

const json = (schema: unknown): Json => ({ "application/json": { schema } });

const pathsOf = (routes: readonly Route[]): Json => {
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    const path = (paths[route.path] ??= {});
    path[route.method.toLowerCase()] = operationOf(route);
  }
  return paths;
};

const operationOf = (route: Route): Json => ({
  operationId: route.id,
  summary: route.summary,
  tags: [route.tag],
  ...(route.scopes === "public" ? { security: [] } : { description: `Scope: ${scopesOf(route)}.` }),
  parameters: parametersOf(route),
  ...(route.body !== undefined && { requestBody: { required: true, content: json(linked(route.body)) } }),
  responses: responsesOf(route),
});

const scopesOf = ({ scopes }: Route): string => {
  const either = scopes === "public" ? [] : scopes.filter((scope) => scope !== "admin");
  return [...either, "admin"].map((scope) => `\`${scope}\``).join(" or ");
};

const parametersOf = ({ path, query, headers = {} }: Route): Json[] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  })),
  ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({ name, in: "query", schema: linked(schema) })),
  ...Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    schema: { type: "string" },
  })),
];

/** Errors that every operation with a key can give. Source: decisions 9.2. */
const common: readonly ErrorCode[] = [
  "HS_VALIDATION_ERROR",
  "HS_UNAUTHENTICATED",
  "HS_FORBIDDEN",
  "HS_NOT_FOUND",
  "HS_RATE_LIMITED",
  "HS_INTERNAL_ERROR",
  "HS_UNAVAILABLE",
  "HS_TIMEOUT",
];
const withBody: readonly ErrorCode[] = ["HS_PAYLOAD_TOO_LARGE", "HS_UNSUPPORTED_MEDIA_TYPE"];

const responsesOf = (route: Route): Json => {
  const answers = route.status.map((status) => [
    status,
    { description: route.summary, headers: headerRefs, content: json(linked(route.reply)) },
  ]);
  const codes =
    route.scopes === "public" ? [] : [...common, ...(mayHaveBody(route) ? withBody : []), ...(route.errors ?? [])];
  const errors = codes.map((code) => [errorStatuses[code], { $ref: "#/components/responses/Error" }]);
  return Object.fromEntries([...errors, ...answers]) as Json; // sound: pairs of status and response
};

/** Headers of every reply. */
const replyHeaders: Record<string, readonly [type: string, description: string]> = {
  "X-Request-Id": ["string", "the request's id, in logs too"],
  "Service-Version": ["string", "release of the service"],
  "X-RateLimit-Limit": ["integer", "tokens of the full bucket"],
  "X-RateLimit-Remaining": ["integer", "tokens left"],
  "X-RateLimit-Reset": ["integer", "seconds until the bucket is full, or until a retry is possible"],
};

const headerRefs: Json = Object.fromEntries(
  Object.keys(replyHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);
