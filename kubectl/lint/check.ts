import { allResources } from "#core/channels/all-resources.ts";
import { type ResourceDefinition, resourceGroup, versionsOf } from "#core/schema/kubernetes/definition.ts";
import type { Finding } from "./finding.ts";
import { isMembers, type Manifest, manifestsOf, type Source } from "./manifest.ts";
import { meaningFindings } from "./meaning.ts";
import { schemaFindings } from "./schema.ts";
import { togetherFindings } from "./together.ts";

export type Checked = { findings: Finding[]; resources: number; files: number };

export type CheckOptions = {
  /** Of resources that name none. */
  namespace: string;
  /** Whether what the files refer to has to be among them. */
  isWhole: boolean;
};

/** Everything that is wrong with Herald's resources in some files, by file and line. Resources of others are left alone. */
export const check = (sources: readonly Source[], { namespace, isWhole }: CheckOptions): Checked => {
  const read = sources.map(manifestsOf);
  const all = read.flatMap(({ manifests }) => manifests);
  const ours = all
    .filter(({ apiVersion }) => apiVersion.startsWith(`${resourceGroup}/`))
    .map((one) => placed(one, namespace));
  const findings = [
    ...read.flatMap((one) => one.findings),
    ...ours.flatMap(findingsOf),
    ...togetherFindings({ manifests: ours, isWhole }),
    ...all.flatMap(secretFindings),
  ];
  return { findings: findings.sort(byPlace), resources: ours.length, files: sources.length };
};

const definitionOf = (kind: string): ResourceDefinition | undefined => allResources.find((one) => one.kind === kind);

/** A resource that names no namespace stands in the one that it would be applied to. */
const placed = (manifest: Manifest, namespace: string): Manifest =>
  definitionOf(manifest.kind)?.scope === "Namespaced"
    ? { ...manifest, namespace: manifest.namespace ?? namespace }
    : manifest;

const findingsOf = (manifest: Manifest): Finding[] => {
  const definition = definitionOf(manifest.kind);
  if (definition === undefined || !apiVersionsOf(definition).includes(manifest.apiVersion))
    return [unknownKind(manifest)];
  const names = [...nameFindings(manifest), ...scopeFindings(manifest, definition)];
  const schema = schemaFindings(manifest, definition);
  const isSound = schema.every(({ rule }) => rule === "unknown-member");
  return [...names, ...schema, ...(isSound ? meaningFindings(manifest) : [])];
};

const apiVersionsOf = (definition: ResourceDefinition): string[] =>
  versionsOf(definition).map((version) => `${resourceGroup}/${version}`);

const unknownKind = (manifest: Manifest): Finding => {
  const known = definitionOf(manifest.kind);
  const kinds = allResources.map(({ kind }) => kind).join(", ");
  return known !== undefined
    ? manifest.finding("kind", ["apiVersion"], `${manifest.kind} is of ${apiVersionsOf(known).join(" or ")}`)
    : manifest.finding("kind", ["kind"], `there is no kind ${JSON.stringify(manifest.kind)}; there are ${kinds}`);
};

const nameFindings = (manifest: Manifest): Finding[] =>
  /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(manifest.name)
    ? []
    : [
        manifest.finding(
          "name",
          ["metadata", "name"],
          "must be small letters, digits, - and ., 253 at most, with a letter or digit at both ends",
        ),
      ];

const scopeFindings = (manifest: Manifest, { scope, kind }: ResourceDefinition): Finding[] =>
  scope === "Cluster" && manifest.namespace !== undefined
    ? [
        manifest.finding(
          "namespace",
          ["metadata", "namespace"],
          `a ${kind} is the whole cluster's and stands in no namespace`,
        ),
      ]
    : [];

/** A Secret in git whose values anybody can read. */
const secretFindings = (manifest: Manifest): Finding[] => {
  if (manifest.kind !== "Secret" || manifest.apiVersion !== "v1") return [];
  const member = ["stringData", "data"].find((name) => {
    const values = manifest.value[name];
    return isMembers(values) && Object.keys(values).length > 0;
  });
  return member === undefined
    ? []
    : [
        manifest.finding(
          "secret",
          [member],
          "a Secret is among the files with its values: keep it out of git, or seal it",
          "warning",
        ),
      ];
};

const byPlace = (a: Finding, b: Finding): number =>
  a.file.localeCompare(b.file) || a.line - b.line || a.column - b.column;
