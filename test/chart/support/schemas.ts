import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { KubeError } from "#core/runtime/kube/errors.ts";

/** A JSON Schema as the API server describes it. */
type Schema = {
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  "x-kubernetes-preserve-unknown-fields"?: boolean;
  "x-kubernetes-int-or-string"?: boolean;
  "x-kubernetes-group-version-kind"?: { group: string; version: string; kind: string }[];
};
type Document = { components?: { schemas?: Record<string, Schema> } };

/**
 * Writes, for kubeconform, a strict schema of every kind that a running API server knows, its CRDs included: members
 * that it does not know are refused. Returns kubeconform's option that names them.
 */
export const writeSchemas = async (client: KubeClient, dir: string): Promise<string[]> => {
  await mkdir(dir, { recursive: true });
  const signal = AbortSignal.timeout(90_000);
  for (const [group, { components }] of await documentsOf(client, signal, (name) => /^apis?\//.test(name)))
    await writeGroup(components?.schemas ?? {}, join(dir, group.replaceAll("/", "_")));
  return ["-schema-location", `${dir}/{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json`];
};

/** Whether a running API server describes a kind by now: it does so a moment after it serves it. */
export const isDescribed = async (
  client: KubeClient,
  { group, kind }: { group: string; kind: string },
): Promise<boolean> => {
  const signal = AbortSignal.timeout(60_000);
  const documents = await documentsOf(client, signal, (name) => name.startsWith(`apis/${group}/`)).catch(noneWhenMoved);
  const schemas = documents.flatMap(([, { components }]) => Object.values(components?.schemas ?? {}));
  return schemas.some((schema) => schema["x-kubernetes-group-version-kind"]?.some((one) => one.kind === kind));
};

/** A document's address holds its hash: it redirects when the document has changed since the index was read. */
const noneWhenMoved = (error: unknown): [] => {
  if (error instanceof KubeError && error.status === 301) return [];
  throw error;
};

/** What the API server says of each group and version, e.g. `apis/apps/v1`. */
const documentsOf = async (
  client: KubeClient,
  signal: AbortSignal,
  isWanted: (name: string) => boolean,
): Promise<[name: string, document: Document][]> => {
  const index = { method: "GET", path: "/openapi/v3" } as const;
  const { paths } = await client.call<{ paths: Record<string, { serverRelativeURL: string }> }>(index, signal);
  const documents: [string, Document][] = [];
  for (const [name, { serverRelativeURL }] of Object.entries(paths).filter(([path]) => isWanted(path)))
    documents.push([name, await client.call<Document>({ method: "GET", path: serverRelativeURL }, signal)]);
  return documents;
};

const writeGroup = async (schemas: Record<string, Schema>, name: string): Promise<void> => {
  for (const schema of Object.values(schemas)) close(schema);
  const definitions = `${name}_definitions.json`;
  await writeFile(definitions, JSON.stringify({ components: { schemas } }));
  const folder = definitions.slice(0, definitions.lastIndexOf("/"));
  for (const [id, schema] of Object.entries(schemas)) {
    for (const { group, version, kind } of schema["x-kubernetes-group-version-kind"] ?? []) {
      const file = join(folder, `${group || version}_${version}_${kind.toLowerCase()}.json`);
      await writeFile(file, JSON.stringify({ $ref: `file://${definitions}#/components/schemas/${id}` }));
    }
  }
};

/** Closes an object and all that it holds. */
const close = (schema: Schema): void => {
  const isOpen = schema.additionalProperties !== undefined || schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema.properties !== undefined && !isOpen) schema.additionalProperties = false;
  const { properties = {}, items, additionalProperties, allOf = [], anyOf = [], oneOf = [] } = schema;
  const inner = [...Object.values(properties), ...allOf, ...anyOf, ...oneOf];
  for (const one of items === undefined ? inner : [...inner, items]) close(one);
  if (typeof additionalProperties === "object") close(additionalProperties);
};
