import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { TObject } from "typebox";
import { parse, parseAllDocuments, stringify } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { customResourceDefinition } from "#core/schema/kubernetes/crd.ts";
import { resourceGroup, versionsOf } from "#core/schema/kubernetes/definition.ts";
import { rootDir } from "../files/paths.ts";
import { displayNameOf, exampleOf } from "../generators/chart/artifact-hub.ts";
import { command } from "../processes/run-command.ts";
import { tool } from "./tool.ts";

/** `image` is the address that the operator's pods are made from. */
export type OlmOptions = { version: string; created: string; image: string };

/**
 * Writes a bundle for the Operator Lifecycle Manager: what the chart renders with stores of the installation's own, as a
 * ClusterServiceVersion with descriptors and an example of each kind. See https://olm.operatorframework.io/docs/tasks/creating-operator-bundle.
 */
export const writeOlmBundle = async (folder: string, options: OlmOptions): Promise<void> => {
  const objects = await render();
  const written: Record<string, object> = {
    "metadata/annotations.yaml": { annotations },
    "manifests/herald.clusterserviceversion.yaml": await serviceVersion(objects, options),
  };
  for (const kind of allResources)
    written[`manifests/${resourceGroup}_${kind.plural}.yaml`] = customResourceDefinition(kind);
  for (const object of objects.filter(({ kind }) => besideKinds.includes(kind)))
    written[`manifests/${object.metadata.name}.${object.kind.toLowerCase()}.yaml`] = object;
  for (const name of ["manifests", "metadata"]) await mkdir(join(folder, name), { recursive: true });
  for (const [name, object] of Object.entries(written))
    await writeFile(join(folder, name), stringify(object, yamlOptions));
};

const yamlOptions = { lineWidth: 0, aliasDuplicateObjects: false };

const prefix = "operators.operatorframework.io.bundle";
const annotations = {
  [`${prefix}.mediatype.v1`]: "registry+v1",
  [`${prefix}.manifests.v1`]: "manifests/",
  [`${prefix}.metadata.v1`]: "metadata/",
  [`${prefix}.package.v1`]: "herald",
  [`${prefix}.channels.v1`]: "alpha",
  [`${prefix}.channel.default.v1`]: "alpha",
};

type Rendered = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: object };
  spec?: object;
  rules?: object[];
  roleRef?: { name: string };
  subjects?: { name: string }[];
};

/** What lies in a bundle beside the ClusterServiceVersion, which has Deployments, accounts and their rights. */
const besideKinds = ["Service", "PodDisruptionBudget"];

/** The stores' addresses and the key ring come from Secrets of these names, which the installation's owner makes. */
const values = {
  mongodb: { existingSecret: "herald-mongodb" },
  nats: { existingSecret: "herald-nats" },
  redis: { existingSecret: "herald-redis" },
  keyRing: { existingSecret: "herald-key-ring" },
  crds: { enabled: false },
  networkPolicy: { enabled: false },
};

/** Stands for the namespace of the subscription until pods learn it from their environment. */
const somewhere = "namespace-of-the-subscription";

const render = async (): Promise<Rendered[]> => {
  const words = [
    "template",
    "herald",
    join(rootDir, "charts/herald"),
    "--namespace",
    somewhere,
    "--no-hooks",
    "--values",
    "-",
  ];
  const text = await command([tool("helm"), ...words], { input: stringify(values) });
  const objects = parseAllDocuments(text).flatMap((one) => (one.contents === null ? [] : [one.toJS() as Rendered]));
  return JSON.parse(JSON.stringify(objects, ofOlm)) as Rendered[];
};

/** OLM installs it, not Helm, and puts everything into the namespace of the subscription. */
const ofOlm = (key: string, value: unknown): unknown =>
  key === "helm.sh/chart" || value === "Helm" || (key === "namespace" && value === somewhere) ? undefined : value;

const serviceVersion = async (
  objects: readonly Rendered[],
  { version, created, image }: OlmOptions,
): Promise<object> => {
  const chart = parse(await readFile(join(rootDir, "charts/herald/Chart.yaml"), "utf8")) as {
    icon: string;
    keywords: string[];
  };
  const [mediatype = "", base64data = ""] = chart.icon.replace("data:", "").split(";base64,");
  return {
    apiVersion: "operators.coreos.com/v1alpha1",
    kind: "ClusterServiceVersion",
    metadata: {
      name: `herald.v${version}`,
      annotations: {
        "alm-examples": JSON.stringify(
          allResources.map(({ kind }) => exampleOf(kind)),
          null,
          2,
        ),
        capabilities: "Deep Insights",
        categories: "Streaming & Messaging",
        containerImage: image,
        createdAt: created,
        description: "Self-hosted, multi-tenant, multi-channel messaging service",
        "operatorframework.io/suggested-namespace": "herald",
      },
    },
    spec: {
      displayName: "Herald",
      version,
      maturity: "alpha",
      minKubeVersion: "1.30.0",
      description: await readFile(join(rootDir, "dev/release/olm-description.md"), "utf8"),
      keywords: chart.keywords,
      provider: { name: "Herald" },
      maintainers: [{ name: "Herald", email: "herald@herald.dev" }],
      links: [{ name: "Documentation", url: "https://herald.dev/docs" }],
      icon: [{ mediatype, base64data }],
      installModes: ["OwnNamespace", "SingleNamespace", "MultiNamespace", "AllNamespaces"].map((type) => ({
        type,
        supported: type === "AllNamespaces", // tenants, plans and incidents are the whole cluster's
      })),
      install: { strategy: "deployment", spec: installed(objects, image) },
      customresourcedefinitions: { owned: allResources.flatMap(ownedKind) },
    },
  };
};

const installed = (objects: readonly Rendered[], image: string): object => ({
  deployments: objects
    .filter(({ kind }) => kind === "Deployment")
    .map(({ metadata: { name, labels }, spec }) => ({ name, label: labels, spec: asInOlm(spec ?? {}, image) })),
  permissions: rightsBy(objects, "RoleBinding", "Role"),
  clusterPermissions: rightsBy(objects, "ClusterRoleBinding", "ClusterRole"),
});

type Variable = { name: string; value?: string };

/** With the release's image, and the namespace as pods learn it. */
const asInOlm = (spec: object, image: string): object => {
  const changed = JSON.stringify(spec, (key, value: unknown) => {
    if (key === "image") return image;
    return key === "env" ? [namespaceVariable, ...(value as Variable[]).map(inNamespace)] : value;
  });
  if (changed.includes(somewhere)) throw new Error("a Deployment of the chart names its namespace outside of env");
  return JSON.parse(changed) as object;
};

const namespaceVariable = { name: "POD_NAMESPACE", valueFrom: { fieldRef: { fieldPath: "metadata.namespace" } } };

const inNamespace = ({ name, value, ...more }: Variable): Variable => ({
  name,
  ...(value !== undefined && { value: value.replaceAll(somewhere, "$(POD_NAMESPACE)") }),
  ...more,
});

/** The rights of each account that a binding of this kind gives. */
const rightsBy = (objects: readonly Rendered[], binding: string, role: string): object[] =>
  objects
    .filter(({ kind }) => kind === binding)
    .flatMap(({ roleRef, subjects = [] }) =>
      subjects.map(({ name }) => ({
        serviceAccountName: name,
        rules: objects.find(({ kind, metadata }) => kind === role && metadata.name === roleRef?.name)?.rules ?? [],
      })),
    );

const ownedKind = (definition: (typeof allResources)[number]): object[] => {
  const { kind, plural, description, spec, status } = definition;
  return versionsOf(definition).map((version) => ({
    name: `${plural}.${resourceGroup}`,
    kind,
    version,
    displayName: displayNameOf(kind),
    description,
    specDescriptors: descriptorsOf(spec),
    statusDescriptors: descriptorsOf(status),
  }));
};

const descriptorsOf = ({ properties }: TObject): object[] =>
  Object.entries(properties).map(([path, schema]) => ({
    path,
    displayName: displayNameOf(`${path.charAt(0).toUpperCase()}${path.slice(1)}`),
    description: (schema as { description?: string }).description ?? "",
    ...(path === "conditions" && { "x-descriptors": ["urn:alm:descriptor:io.kubernetes.conditions"] }),
  }));
