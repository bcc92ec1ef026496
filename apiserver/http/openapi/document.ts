import type { TSchema } from "typebox";
import { type ErrorCode, errorStatuses } from "#core/errors.ts";
import { serviceVersion } from "../middleware/request-id.ts";
import { mayHaveBody, type Route } from "../route.ts";
import { examples } from "./examples.ts";
import { narrowed } from "./narrowed.ts";
import { parametersOf } from "./parameters.ts";
import { named } from "./schemas.ts";

type Json = Record<string, unknown>;

/** The OpenAPI 3.1 document of a table of routes: the schemas are the ones that validate, and what is checked besides. */
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
    schemas: narrowed(Object.fromEntries(named.map(([name, schema]) => [name, shown(name, schema)]))),
    headers: Object.fromEntries(
      Object.entries(replyHeaders).map(([name, [type, description]]) => [name, { schema: { type }, description }]),
    ),
    responses: { Error: { description: "an error", headers: headerRefs, content: json(refTo("Error")) } },
  },
});

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

const shown = (name: string, schema: TSchema): Json => ({
  ...(inside(schema) as Json), // sound: a schema is an object
  examples: examples[name],
});

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
  parameters: parametersOf(route, linked),
  ...(route.body !== undefined && { requestBody: { required: true, content: json(linked(route.body)) } }),
  responses: responsesOf(route),
});

const scopesOf = ({ scopes }: Route): string => {
  const either = scopes === "public" ? [] : scopes.filter((scope) => scope !== "admin");
  return [...either, "admin"].map((scope) => `\`${scope}\``).join(" or ");
};

/** Errors that every operation can give, and those that one with a key can. Source: decisions 9.1, 9.2. */
const ofAll: readonly ErrorCode[] = [
  "HS_VALIDATION_ERROR",
  "HS_NOT_ACCEPTABLE",
  "HS_REQUEST_TIMEOUT",
  "HS_EXPECTATION_FAILED",
  "HS_RATE_LIMITED",
  "HS_HEADERS_TOO_LARGE",
  "HS_INTERNAL_ERROR",
  "HS_TIMEOUT",
];
const withKey: readonly ErrorCode[] = ["HS_UNAUTHENTICATED", "HS_FORBIDDEN", "HS_NOT_FOUND", "HS_UNAVAILABLE"];
const withBody: readonly ErrorCode[] = ["HS_PAYLOAD_TOO_LARGE", "HS_UNSUPPORTED_MEDIA_TYPE"];

const responsesOf = (route: Route): Json => {
  const answers = route.status.map((status) => [
    status,
    { description: route.summary, headers: headerRefs, content: json(linked(route.reply)) },
  ]);
  const codes = [
    ...ofAll,
    ...(route.scopes === "public" ? [] : withKey),
    ...(mayHaveBody(route) ? withBody : []),
    ...(route.errors ?? []),
  ];
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
