import type { Json } from "../http/feature.ts";
import type { Sample } from "./samples.ts";
import type { Schema, SchemaObject } from "./schemas/schema.ts";

export type Parameter = {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema: Schema;
  example?: unknown;
};

type Content = Record<string, { schema: Schema; example?: unknown }>;
type Response = { description?: string; content?: Content; headers?: object };

/** An operation of the interface, or an event that an endpoint gets, as the reference's document has it. */
export type Operation = {
  operationId: string;
  summary: string;
  description: string;
  tags: [string];
  deprecated?: boolean;
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, Response>;
  "x-codeSamples": Sample[];
};

export type Listed = Operation & { method: string; path: string };
export type Group = { tag: string; description: string; operations: Listed[] };

/** What the pages show, in their order. */
export type Reference = {
  groups: Group[];
  events: Operation[];
  schemas: Record<string, SchemaObject>;
  /** Headers of every reply. */
  headers: Record<string, { schema: Schema; description: string }>;
};

/** What most readers look for. */
const firstTag = "Notifications";
export const firstOperation = "createNotification";

/** Reads what `referenceOf` made. */
export const modelOf = (document: Json): Reference => {
  const { paths, tags, webhooks, components } = document as Document; // sound: referenceOf made it of openapi()
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  );
  const groups = tags.map(({ name, description }) => ({
    tag: name,
    description,
    operations: operations.filter((one) => one.tags[0] === name),
  }));
  return {
    groups: [...groups.filter(({ tag }) => tag === firstTag), ...groups.filter(({ tag }) => tag !== firstTag)].filter(
      (group) => group.operations.length > 0,
    ),
    events: Object.values(webhooks).map(({ post }) => post),
    schemas: components.schemas,
    headers: components.headers,
  };
};

type Document = {
  paths: Record<string, Record<string, Operation>>;
  tags: { name: string; description: string }[];
  webhooks: Record<string, { post: Operation }>;
  components: Pick<Reference, "schemas" | "headers">;
};
