import { type ErrorCode, errorStatuses } from "#core/errors.ts";
import { ErrorReply } from "#core/schema/json/error.ts";
import { nameOf } from "#core/schema/json/named.ts";
import type { Scope } from "#core/schema/vocabulary/scopes.ts";
import { appHeader, secretHeader } from "../../access/device.ts";
import type { Docs, Feature, Json } from "../feature.ts";
import { serviceVersion } from "../middleware/request-id.ts";
import { eventStreamType } from "../protocol/event-stream.ts";
import { mayHaveBody, type Operation } from "../route.ts";
import { commonExamples } from "./examples.ts";
import { parametersOf } from "./parameters.ts";

type Documented = Pick<Feature<never>, "operations" | "docs">;

/** The OpenAPI 3.1 document of features: the schemas are the ones that validate, and what is checked besides. */
export const openapi = (features: readonly Documented[]): { openapi: string } & Json => ({
  openapi: "3.1.0",
  info: {
    title: "Herald",
    version: serviceVersion,
    description: "Multi-channel messaging. Members and enum values may be added: clients ignore what they do not know.",
    contact: { name: "Herald", url: "https://herald.dev" },
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  },
  servers: [{ url: "/", description: "where this document is served" }],
  security: [{ apiKey: [] }],
  tags: features.flatMap(({ docs }) =>
    Object.entries(docs.tags ?? {}).map(([name, description]) => ({ name, description })),
  ),
  paths: pathsOf(features),
  components: {
    securitySchemes: {
      apiKey: { type: "http", scheme: "bearer", description: "an API key; Key and Basic work too" },
      app: { type: "apiKey", in: "header", name: appHeader, description: "the app that a device is of" },
      device: {
        type: "apiKey",
        in: "header",
        name: secretHeader,
        description: "the secret of a device's subscription",
      },
    },
    schemas: schemasOf(features),
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
const schemasOf = (features: readonly Documented[]): Json => {
  const found = new Map<string, object>();
  const collect = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const name = nameOf(node);
    if (name !== undefined && found.has(name)) return;
    if (name !== undefined) found.set(name, node);
    Object.values(node).forEach(collect);
  };
  collect(ErrorReply);
  for (const { body, form, query, reply, events } of features.flatMap(({ operations }) => operations))
    collect([body, form?.schema, query, reply, events]);
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  const examples = new Map<string, unknown>(
    [commonExamples, ...features.map(({ docs }) => docs.examples)].flatMap(entries),
  );
  const narrowed = new Map(features.flatMap(({ docs }) => Object.entries(docs.narrowed ?? {})));
  const shown = (name: string, schema: object): Json => {
    const whole = { ...(inside(schema) as Json), examples: examples.get(name) }; // sound: a schema is an object
    return narrowed.get(name)?.(whole) ?? whole;
  };
  return Object.fromEntries(sorted.map(([name, schema]) => [name, shown(name, schema)]));
};

const entries = (map: object = {}): [string, unknown][] => Object.entries(map);

const json = (schema: unknown): Json => ({ "application/json": { schema } });

const pathsOf = (features: readonly Documented[]): Json => {
  const paths: Record<string, Json> = {};
  for (const { operations, docs } of features) {
    for (const operation of operations) {
      const path = (paths[operation.path] ??= {});
      path[operation.method.toLowerCase()] = operationOf(operation, docs);
    }
  }
  return paths;
};

const operationOf = (operation: Operation, docs: Docs): Json => ({
  operationId: operation.id,
  summary: operation.summary,
  tags: [operation.tag],
  ...(operation.deprecated !== undefined && { deprecated: true }),
  ...accessOf(operation),
  parameters: parametersOf(operation, docs, linked),
  ...bodyOf(operation),
  responses: responsesOf(operation),
});

/** What a request has to prove. */
const accessOf = (operation: Operation): Json => {
  const { scopes } = operation;
  if (scopes === "public") return { security: [], description: "Needs no key." };
  if (scopes === "app") return { security: [{ app: [] }], description: "Called by devices, with the id of their app." };
  if (scopes === "device")
    return { security: [{ app: [], device: [] }], description: "Called by devices, with their secret." };
  return { description: `Scope: ${scopesOf(scopes)}.${featureOf(operation)}` };
};

const bodyOf = ({ body, form }: Operation): Json => {
  if (form !== undefined)
    return { requestBody: { required: true, content: { "multipart/form-data": { schema: linked(form.schema) } } } };
  return body === undefined ? {} : { requestBody: { required: true, content: json(linked(body)) } };
};

const scopesOf = (scopes: readonly Scope[]): string => {
  const either = scopes.filter((scope) => scope !== "admin");
  return [...either, "admin"].map((scope) => `\`${scope}\``).join(" or ");
};

const featureOf = ({ feature }: Operation): string =>
  feature === undefined ? "" : ` Feature of the plan: \`${feature}\`.`;

/** Errors of every operation, and of those with a key. Source: docs/reference/requests.md#error-codes. */
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
const withKey: readonly ErrorCode[] = [
  "HS_UNAUTHENTICATED",
  "HS_FORBIDDEN",
  "HS_ORGANIZATION_SUSPENDED",
  "HS_NOT_FOUND",
  "HS_UNAVAILABLE",
];
const withBody: readonly ErrorCode[] = ["HS_PAYLOAD_TOO_LARGE", "HS_UNSUPPORTED_MEDIA_TYPE"];

const responsesOf = (operation: Operation): Json => {
  const answers = operation.status.map((status) => [
    status,
    { description: operation.summary, headers: headersOf(operation), content: contentOf(operation) },
  ]);
  const errors = [...Map.groupBy(codesOf(operation), (code) => errorStatuses[code])].map(([status, codes]) => [
    status,
    { $ref: "#/components/responses/Error", description: codes.map((code) => `\`${code}\``).join(", ") },
  ]);
  const unchanged = { description: "nothing changed since the reply with this ETag", headers: headerRefs };
  const ifUnchanged = operation.hasEtag === true ? [[304, unchanged]] : [];
  return Object.fromEntries([...errors, ...answers, ...ifUnchanged]) as Json; // sound: pairs of status and response
};

const headersOf = ({ hasEtag }: Operation): Json =>
  hasEtag === true
    ? { ...headerRefs, ETag: { schema: { type: "string" }, description: "names what the reply shows" } }
    : headerRefs;

/** `x-event-data`: OpenAPI 3.1 has no words for what events say. */
const contentOf = ({ reply, events }: Operation): Json =>
  events === undefined
    ? json(linked(reply))
    : { [eventStreamType]: { schema: linked(reply), "x-event-data": linked(events) } };

const codesOf = (operation: Operation): Set<ErrorCode> =>
  new Set([
    ...ofAll,
    ...(operation.scopes === "public" ? [] : withKey.filter((code) => code !== "HS_FORBIDDEN" || hasScopes(operation))),
    ...(mayHaveBody(operation) ? withBody : []),
    ...(operation.errors ?? []),
  ]);

const hasScopes = ({ scopes }: Operation): boolean => typeof scopes !== "string";

/** Headers of every reply. */
const replyHeaders: Record<string, readonly [type: string, description: string]> = {
  "X-Request-Id": ["string", "the request's id, in logs too"],
  "Service-Version": ["string", "version of this interface's definition, not of the software"],
  "X-RateLimit-Limit": ["integer", "tokens of the full bucket"],
  "X-RateLimit-Remaining": ["integer", "tokens left"],
  "X-RateLimit-Reset": ["integer", "seconds until the bucket is full, or until a retry is possible"],
  "RateLimit-Policy": [
    "string",
    "the same bucket as the IETF writes it: its name, size and the seconds in which it fills",
  ],
  RateLimit: ["string", "its name, tokens left and the seconds of `X-RateLimit-Reset`"],
};

const headerRefs: Json = Object.fromEntries(
  Object.keys(replyHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);
