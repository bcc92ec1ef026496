import { type ErrorCode, errorStatuses } from "#core/errors.ts";
import { ErrorReply } from "#core/schema/json/error.ts";
import { nameOf } from "#core/schema/json/named.ts";
import { serviceVersion } from "../middleware/request-id.ts";
import { mayHaveBody, type Route } from "../route.ts";
import { examples } from "./examples.ts";
import { narrowed } from "./narrowed.ts";
import { parametersOf } from "./parameters.ts";

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
    schemas: narrowed(schemasOf(routes)),
    headers: Object.fromEntries(
      Object.entries(replyHeaders).map(([name, [type, description]]) => [name, { schema: { type }, description }]),
    ),
    responses: { Error: { description: "an error", headers: headerRefs, content: json(refTo("Error")) } },
  },
});

const refTo = (name: string): Json => ({ $ref: `#/components/schemas/${name}` });

/** A schema with every named one below it as a reference. */
const linked = (schema: unknown): unknown => {
  if (typeof schema !== "object" || schema === null) return schema;
  const name = nameOf(schema);
  return name === undefined ? inside(schema) : refTo(name);
};

const inside = (schema: object): unknown =>
  Array.isArray(schema)
    ? schema.map(linked)
    : Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, linked(value)]));

/** Every named schema that an operation leads to, by its name. */
const schemasOf = (routes: readonly Route[]): Record<string, Json> => {
  const found = new Map<string, object>();
  const collect = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const name = nameOf(node);
    if (name !== undefined && found.has(name)) return;
    if (name !== undefined) found.set(name, node);
    Object.values(node).forEach(collect);
  };
  collect([ErrorReply, ...routes.flatMap(({ body, query, reply }) => [body, query, reply])]);
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([name, schema]) => [name, shown(name, schema)]));
};

const shown = (name: string, schema: object): Json => ({
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
