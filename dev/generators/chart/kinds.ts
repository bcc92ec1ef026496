import { allResources } from "#core/channels/all-resources.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { GeneratedFile } from "../generated-file.ts";

/** The kinds as templates of the chart, from which the rules of its roles are made. */
export const chartKinds = (): GeneratedFile[] => {
  const inNamespaces = allResources.filter(({ scope }) => scope === "Namespaced");
  return [
    {
      path: "charts/herald/templates/_kinds.tpl",
      text: `{{- /* Generated from operator/kinds/all.ts by \`make generate\`. */}}
${template("herald.kinds", "Every kind, as a JSON list", allResources)}
${template("herald.namespacedKinds", "Those that live in a namespace", inNamespaces)}`,
    },
  ];
};

const template = (name: string, what: string, kinds: readonly ResourceDefinition[]): string => `{{/* ${what}. */}}
{{- define "${name}" -}}
${JSON.stringify(kinds.map(({ plural }) => plural))}
{{- end }}
`;
