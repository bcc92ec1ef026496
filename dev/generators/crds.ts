import { stringify } from "yaml";
import { customResourceDefinition } from "#core/schema/crd.ts";
import { allResources } from "#core/schema/resources/all.ts";
import { resourceGroup } from "#core/schema/resources/definition.ts";
import type { GeneratedFile } from "./generated-file.ts";

/** One CustomResourceDefinition a file, under crds/. */
export const crdFiles = (): GeneratedFile[] =>
  allResources.map((kind) => ({
    path: `crds/${resourceGroup}_${kind.plural}.yaml`,
    text: `# Generated from core/schema/resources by \`make generate\`.\n${stringify(customResourceDefinition(kind), yamlOptions)}`,
  }));

const yamlOptions = { lineWidth: 0, aliasDuplicateObjects: false };
