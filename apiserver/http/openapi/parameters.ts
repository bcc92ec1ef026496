import { patterns } from "#core/schema/json/patterns.ts";
import type { Docs, Json } from "../feature.ts";
import type { Operation } from "../route.ts";
import { commonQueries, exampleIds } from "./examples.ts";

/** Every parameter of an operation, each with an example. `linked` writes a schema, with references to named ones. */
export const parametersOf = (
  { path, query, headers = {} }: Pick<Operation, "path" | "query" | "headers">,
  { pathParameters, queryExamples }: Docs,
  linked: (schema: unknown) => unknown,
): Json[] => [
  ...Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    ...(pathParameters?.[name] ?? inPaths[name] ?? unknownPart),
  })),
  ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: "query",
    ...(query?.required?.includes(name) && { required: true }),
    ...("description" in schema && { description: schema.description }),
    schema: linked(schema),
    example: exampleOf(schema) ?? { ...commonQueries, ...queryExamples }[name],
  })),
  ...Object.entries(headers).map(([name, description]) => ({
    name,
    in: "header",
    description,
    ...(inHeaders[name] ?? unknownPart),
  })),
];

/** What a part of a path means. What is missing or another's is 404, whatever it looks like: ids are opaque. */
export const pathPart = (description: string, example: string, schema: Json = {}): Json => ({
  description,
  schema: { type: "string", minLength: 1, ...schema },
  example,
});

const unknownPart: Json = { schema: { type: "string", minLength: 1 } };

const inPaths: Record<string, Json> = { appId: pathPart("id of an app", exampleIds.app) };

const inHeaders: Record<string, Json> = {
  "Idempotency-Key": {
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: patterns.idempotencyKey },
    example: "order-4711-shipped",
  },
  "If-None-Match": { schema: { type: "string" }, example: '"X0mZ2b1qYyQv9wR4sT6uA7"' },
  "Last-Event-ID": { schema: { type: "string", pattern: patterns.revision }, example: "4" },
};

/** The first of the values that there are; of a list, it alone. */
const exampleOf = (schema: object): unknown => {
  if ("enum" in schema && Array.isArray(schema.enum)) return schema.enum[0];
  const items = "items" in schema && typeof schema.items === "object" && schema.items !== null ? schema.items : {};
  const item = "enum" in items ? exampleOf(items) : undefined;
  return item === undefined ? undefined : [item];
};
