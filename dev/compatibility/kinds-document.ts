import type { OpenApi } from "./openapi.ts";

/** What is read of a CustomResourceDefinition. */
export type CustomResourceDefinition = {
  spec: {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: readonly { name: string; served: boolean; schema: { openAPIV3Schema: Schema } }[];
  };
};

/** What is read of a kind's schema. */
export type Schema = {
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
  "x-kubernetes-validations"?: readonly { rule: string }[];
};

/**
 * The kinds as an API: `spec` is what people send, `status` is what they read. A kind that is renamed, moved into or out
 * of namespaces, or served in a version less is another path.
 */
export const kindsDocument = (definitions: readonly CustomResourceDefinition[]): OpenApi => ({
  openapi: "3.0.3",
  info: { title: "Custom resources", version: "1" },
  paths: Object.fromEntries(
    definitions.flatMap(({ spec: { group, scope, names, versions } }) =>
      versions
        .filter(({ served }) => served)
        .map(({ name, schema }) => [
          `/${group}/${name}/${scope.toLowerCase()}/${names.plural}/${names.kind}`,
          { put: operation(schema.openAPIV3Schema) },
        ]),
    ),
  ),
});

const operation = ({ properties: { spec = {}, status = {} } = {} }: Schema): object => ({
  requestBody: { required: true, content: { "application/json": { schema: spec } } },
  responses: { 200: { description: "status", content: { "application/json": { schema: status } } } },
});

/** A member of a kind, or its `spec`: where it is, and the CEL rules that stand there. */
export type Member = { place: string; rules: readonly string[] };

/** Every member that people can send. */
export const membersOf = ({ paths }: OpenApi): Member[] =>
  Object.entries(paths).flatMap(([path, item]) => {
    const { put } = item as { put: Operation }; // sound: kindsDocument builds it
    return membersWithin(put.requestBody.content["application/json"].schema, `${path} spec`);
  });

type Operation = { requestBody: { content: { "application/json": { schema: Schema } } } };

const membersWithin = (schema: Schema, place: string): Member[] => [
  { place, rules: (schema["x-kubernetes-validations"] ?? []).map(({ rule }) => rule) },
  ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => membersWithin(member, `${place}.${name}`)),
  ...(schema.items ? membersWithin(schema.items, `${place}[]`) : []),
  ...(typeof schema.additionalProperties === "object" ? membersWithin(schema.additionalProperties, `${place}.*`) : []),
];
