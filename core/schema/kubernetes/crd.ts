import { externalNameRule } from "./common.ts";
import { type Column, type ResourceDefinition, resourceGroup, versionsOf } from "./definition.ts";
import { type StructuralSchema, structural } from "./structural.ts";

/** The CustomResourceDefinition of a kind, as it is applied. */
export const customResourceDefinition = (kind: ResourceDefinition): Record<string, unknown> => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${kind.plural}.${resourceGroup}`, labels: { "app.kubernetes.io/part-of": "herald" } },
  spec: {
    group: resourceGroup,
    scope: kind.scope,
    names: {
      kind: kind.kind,
      listKind: `${kind.kind}List`,
      plural: kind.plural,
      singular: kind.kind.toLowerCase(),
      shortNames: kind.shortNames,
      categories: ["herald"],
    },
    versions: versionsOf(kind).map((name, i) => ({
      name,
      served: true,
      storage: i === 0,
      subresources: { status: {} },
      additionalPrinterColumns: columns(kind),
      schema: { openAPIV3Schema: objectSchema(kind) },
    })),
  },
});

const objectSchema = (kind: ResourceDefinition): StructuralSchema => ({
  type: "object",
  description: kind.description,
  required: ["spec"],
  properties: {
    apiVersion: { type: "string", description: "version of this schema" },
    kind: { type: "string", description: "kind of the resource" },
    metadata: { type: "object" },
    spec: { description: "what is wanted", ...structural(kind.spec, `${kind.kind}.spec`) },
    status: { description: "what is so", ...structural(kind.status, `${kind.kind}.status`) },
  },
  "x-kubernetes-validations": [...(kind.rules ?? []), externalNameRule],
});

const columns = (kind: ResourceDefinition): object[] => [
  column({ name: "Ready", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].status' }),
  column({ name: "Reason", type: "string", jsonPath: '.status.conditions[?(@.type=="Ready")].reason' }),
  ...kind.columns.map(column),
  column({ name: "Policy", type: "string", jsonPath: ".spec.managementPolicy", wide: true }),
  column({ name: "ID", type: "string", jsonPath: ".status.id" }),
  column({ name: "Age", type: "date", jsonPath: ".metadata.creationTimestamp" }),
];

const column = ({ name, type, jsonPath, wide }: Column): object => ({
  name,
  type,
  jsonPath,
  ...(wide ? { priority: 1 } : {}),
});
