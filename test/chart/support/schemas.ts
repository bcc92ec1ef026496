import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { KubeClient } from "../../../operator/kube/client.ts";

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
  const signal = AbortSignal.timeout(30_000);
  const { paths } = await client.call<{ paths: Record<string, { serverRelativeURL: string }> }>(
    { method: "GET", path: "/openapi/v3" },
    signal,
  );
  for (const [group, { serverRelativeURL }] of Object.entries(paths)) {
    if (!/^apis?\//.test(group)) continue;
    const document = await client.call<Document>({ method: "GET", path: serverRelativeURL }, signal);
    await writeGroup(document.components?.schemas ?? {}, join(dir, group.replaceAll("/", "_")));
  }
  return ["-schema-location", `${dir}/{{ .Group }}_{{ .ResourceAPIVersion }}_{{ .ResourceKind }}.json`];
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
