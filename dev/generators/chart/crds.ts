import { stringify } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import type { GeneratedFile } from "../generated-file.ts";

/** The CustomResourceDefinitions as templates of the chart, so that an upgrade of the release upgrades them. */
export const chartCrds = (): GeneratedFile[] =>
  allResources.map((kind) => {
    const { apiVersion, kind: type, metadata, spec } = customResourceDefinition(kind) as Definition;
    return {
      path: `charts/herald/templates/crds/${kind.plural}.yaml`,
      text: template(metadata.name, { apiVersion, kind: type }, escaped(stringify({ spec }, yamlOptions))),
    };
  });

// What customResourceDefinition builds.
type Definition = { apiVersion: string; kind: string; metadata: { name: string }; spec: object };

const yamlOptions = { lineWidth: 0, aliasDuplicateObjects: false };

/** Helm would run what a description holds in double braces. */
const escaped = (text: string): string => text.replaceAll("{{", '{{ "{{" }}');

const template = (
  name: string,
  type: object,
  spec: string,
): string => `{{- /* Generated from the definitions of kinds in core/schema by \`make generate\`. */}}
{{- if .Values.crds.enabled }}
${stringify(type)}metadata:
  name: ${name}
  labels:
    {{- include "herald.labels" (dict "root" . "component" "crds") | nindent 4 }}
  {{- include "herald.crdAnnotations" . | nindent 2 }}
${spec}{{- end }}
`;
