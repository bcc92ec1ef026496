import { readFileSync } from "node:fs";
import { join } from "node:path";
import { allResources } from "#core/channels/all-resources.ts";
import { type ResourceDefinition, resourceGroup, versionsOf } from "#core/schema/kubernetes/definition.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import { incidentResource } from "#core/schema/status/resource.ts";
import { rootDir } from "../files/paths.ts";
import type { GeneratedFile } from "./generated-file.ts";

const path = "deploy/flux/tenants.yaml";

/** What tells Flux the health of every kind, within a file that is otherwise written by hand: first the platform's, then tenants'. */
export const fluxFiles = (): GeneratedFile[] => {
  const kinds = [allResources.filter(isPlatforms), allResources.filter((kind) => !isPlatforms(kind))].values();
  const text = readFileSync(join(rootDir, path), "utf8").replaceAll(/(?<= {2}healthCheckExprs:\n)(?: {4}.*\n)+/g, () =>
    (kinds.next().value ?? []).flatMap(checks).join(""),
  );
  return [{ path, text }];
};

const ofPlatform: ReadonlySet<string> = new Set([planResource.kind, incidentResource.kind]);

const isPlatforms = ({ kind }: ResourceDefinition): boolean => ofPlatform.has(kind);

/** Begins a condition on Ready that is about the newest generation: what an older one says decides nothing. */
const ready = (status: string): string =>
  `status.conditions.exists(c, c.type == 'Ready' && c.observedGeneration == metadata.generation && c.status == '${status}'`;

/** What waits for something that another sync brings has not failed. */
const waiting = ["PlanNotFound", "TenantNotFound", "AppNotFound", "SecretNotFound"];

const checks = (definition: ResourceDefinition): string[] =>
  versionsOf(definition).map((version) => check(`${resourceGroup}/${version}`, definition));

const check = (apiVersion: string, { kind }: ResourceDefinition): string => `    - apiVersion: ${apiVersion}
      kind: ${kind}
      current: ${ready("True")})
      failed: ${ready("False")} && !(c.reason in [${waiting.map((reason) => `'${reason}'`).join(", ")}]))
`;
