import { readFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { resourceGroup } from "#core/schema/kubernetes/definition.ts";
import { rootDir } from "../files/paths.ts";
import type { GeneratedFile } from "./generated-file.ts";

const script = "deploy/argocd/health/herald.lua";

/** What tells Argo CD the health of every kind: for its ConfigMap, and as values of the chart argo-cd. */
export const argocdFiles = (): GeneratedFile[] => {
  const health = readFileSync(join(rootDir, script), "utf8");
  const data = Object.fromEntries(
    allResources.map(({ kind }) => [`resource.customizations.health.${resourceGroup}_${kind}`, health]),
  );
  const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "argocd-cm", namespace: "argocd" }, data };
  return [
    file(
      "deploy/argocd/argocd-cm.yaml",
      "Merge it: kubectl patch configmap argocd-cm --namespace argocd --patch-file FILE",
      configMap,
    ),
    file("deploy/argocd/values.yaml", "Values of the chart argo-cd: helm upgrade … --values FILE", {
      configs: { cm: data },
    }),
  ];
};

const file = (path: string, use: string, content: object): GeneratedFile => ({
  path,
  text: `# Generated from ${script} by \`make generate\`. ${use}\n${stringify(content, { lineWidth: 0, aliasDuplicateObjects: false })}`,
});
