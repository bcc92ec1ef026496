import { allResources } from "#core/channels/all-resources.ts";
import { type ResourceDefinition, resourceApiVersion, resourceGroup } from "#core/schema/kubernetes/definition.ts";
import { type StructuralSchema, structural } from "#core/schema/kubernetes/structural.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** One page a kind, under docs/resources/: every member with its type, default, bounds and description. */
export const resourcePages = (): GeneratedFile[] =>
  allResources.map((kind) => ({ path: `docs/resources/${kind.kind.toLowerCase()}.md`, text: page(kind) }));

const page = (kind: ResourceDefinition): string => `# ${kind.kind}

<!-- Generated from the definitions of kinds in core/schema by \`make generate\`. -->

${kind.description}

\`apiVersion: ${resourceApiVersion}\`${kind.alsoServed === undefined ? "" : `, also \`${kind.alsoServed.map((version) => `${resourceGroup}/${version}`).join("`, `")}\` with the same members`}, ${kind.scope === "Cluster" ? "cluster-wide" : "in a namespace"}; \
\`kubectl get ${kind.plural}\` or \`${kind.shortNames.join("`, `")}\`.

## spec

${table(structural(kind.spec))}

## status

${table(structural(kind.status))}
${kind.rules === undefined ? "" : `\n## Rules\n\n${kind.rules.map(({ message }) => `- ${message}`).join("\n")}\n`}`;

const table = (schema: StructuralSchema): string =>
  ["| Member | Type | Default | Bounds | Meaning |", "|---|---|---|---|---|", ...rows(schema, "")].join("\n");

const rows = (schema: StructuralSchema, prefix: string): string[] => {
  const required = new Set((schema["required"] as string[] | undefined) ?? []); // written by structural()
  return Object.entries(childrenOf(schema)).flatMap(([name, child]) => {
    const path = prefix === "" ? name : `${prefix}.${name}`;
    const needed = required.has(name) ? " **required**" : "";
    return [
      `| \`${path}\`${needed} | ${typeName(child)} | ${fallback(child)} | ${bounds(child)} | ${meaning(child)} |`,
      ...rows(inner(child), child["items"] === undefined ? path : `${path}[]`),
    ];
  });
};

const childrenOf = (schema: StructuralSchema): Record<string, StructuralSchema> => {
  const map = schema["additionalProperties"];
  if (map !== undefined) return { "*": map as StructuralSchema };
  return (schema["properties"] as Record<string, StructuralSchema> | undefined) ?? {};
};

const inner = (schema: StructuralSchema): StructuralSchema =>
  (schema["items"] as StructuralSchema | undefined) ?? schema;

const typeName = (schema: StructuralSchema): string => {
  if (schema["items"] !== undefined) return `list of ${typeName(inner(schema))}`;
  if (schema["additionalProperties"] !== undefined) return "map";
  return textOf(schema["type"]) || "any";
};

const fallback = (schema: StructuralSchema): string =>
  schema["default"] === undefined ? "" : `\`${JSON.stringify(schema["default"])}\``;

const bounds = (schema: StructuralSchema): string => {
  const own = boundNames.filter((name) => schema[name] !== undefined).map((name) => `${name} ${code(schema[name])}`);
  const values = (schema["enum"] ?? inner(schema)["enum"]) as unknown[] | undefined;
  return [...(values ? [`one of ${values.map(code).join(", ")}`] : []), ...own].join("; ");
};

const boundNames = [
  "format",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "maxProperties",
];

const code = (value: unknown): string => `\`${String(value).replaceAll("|", "\\|")}\``;

const meaning = (schema: StructuralSchema): string => {
  const rules = (schema["x-kubernetes-validations"] as { message: string }[] | undefined) ?? [];
  return [textOf(schema["description"]), ...rules.map(({ message }) => `*${message}*`)]
    .join(" ")
    .replaceAll("|", "\\|");
};

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
