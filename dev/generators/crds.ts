import { stringify } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import { resourceGroup } from "#core/schema/kubernetes/definition.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** One CustomResourceDefinition a file, under crds/. */
export const crdFiles = (): GeneratedFile[] =>
  allResources.map((kind) => ({
    path: `crds/${resourceGroup}_${kind.plural}.yaml`,
    text: `# Generated from the definitions of kinds in core/schema by \`make generate\`.\n${stringify(customResourceDefinition(kind), yamlOptions)}`,
  }));

const yamlOptions = { lineWidth: 0, aliasDuplicateObjects: false };
