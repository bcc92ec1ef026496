import { type Finding, type Path } from "./finding.ts";
import { isMembers, type Manifest, type Members } from "./manifest.ts";

/** `isWhole`: what the files refer to is among them. */
export type Together = { manifests: readonly Manifest[]; isWhole: boolean };

/** What is wrong with resources beside one another: references, names, owners of namespaces, plans. */
export const togetherFindings = ({ manifests, isWhole }: Together): Finding[] => [
  ...repeated(manifests, ({ kind, namespace, name }) => `${kind} ${namespace ?? ""}/${name}`, {
    path: ["metadata", "name"],
    rule: "name",
    what: "this resource",
  }),
  ...namespaceOwners(manifests),
  ...takenNames(manifests),
  ...takenSecrets(manifests),
  ...plansOf(manifests),
  ...(isWhole ? missing(manifests) : []),
];

const specOf = ({ value }: Manifest): Members => (isMembers(value["spec"]) ? value["spec"] : {});

const ofKind = (manifests: readonly Manifest[], kind: string): Manifest[] =>
  manifests.filter((one) => one.kind === kind);

/** Findings about each that has the same key as an earlier one. */
const repeated = (
  manifests: readonly Manifest[],
  keyOf: (manifest: Manifest) => string | null,
  { path, rule, what }: { path: Path; rule: "name" | "name-taken" | "secret"; what: string },
): Finding[] => {
  const groups = Map.groupBy(manifests, keyOf);
  groups.delete(null);
  return [...groups.values()].flatMap(([first, ...others]) =>
    others.map((one) => one.finding(rule, path, `${what} is in ${first?.file ?? ""} already (${called(first)})`)),
  );
};

const called = (manifest: Manifest | undefined): string =>
  manifest === undefined
    ? ""
    : `${manifest.kind} ${manifest.namespace === undefined ? "" : `${manifest.namespace}/`}${manifest.name}`;

const claimsOf = (tenant: Manifest): string[] => {
  const { namespaces } = specOf(tenant);
  return Array.isArray(namespaces) ? namespaces.filter((name): name is string => typeof name === "string") : [];
};

const namespaceOwners = (manifests: readonly Manifest[]): Finding[] => {
  const owners = new Map<string, Manifest>();
  return ofKind(manifests, "Tenant").flatMap((tenant) =>
    claimsOf(tenant).flatMap((namespace, n) => {
      const owner = owners.get(namespace);
      if (owner === undefined) owners.set(namespace, tenant);
      if (owner === undefined || owner.name === tenant.name) return [];
      const message = `the namespace ${namespace} belongs to Tenant ${owner.name} (${owner.file})`;
      return [tenant.finding("namespace-owner", ["spec", "namespaces", n], message)];
    }),
  );
};

const takenNames = (manifests: readonly Manifest[]): Finding[] => [
  ...repeated(
    ofKind(manifests, "LiveActivityType"),
    (type) => keyOfText([type.namespace, specOf(type)["appRef"], specOf(type)["name"]]),
    { path: ["spec", "name"], rule: "name-taken", what: "a live activity type of this name of the App" },
  ),
  ...repeated(
    ofKind(manifests, "Segment"),
    (segment) => keyOfText([segment.namespace, specOf(segment)["appRef"], specOf(segment)["name"]]),
    { path: ["spec", "name"], rule: "name-taken", what: "a segment of this name of the App" },
  ),
  ...repeated(
    ofKind(manifests, "InAppMessage"),
    (one) => keyOfText([one.namespace, specOf(one)["appRef"], specOf(one)["name"]]),
    { path: ["spec", "name"], rule: "name-taken", what: "an in-app message of this name of the App" },
  ),
  ...repeated(
    ofKind(manifests, "WarehouseExport"),
    (one) => keyOfText([one.namespace, specOf(one)["appRef"], specOf(one)["name"]]),
    { path: ["spec", "name"], rule: "name-taken", what: "a warehouse export of this name of the App" },
  ),
  ...repeated(
    ofKind(manifests, "Template"),
    (template) => keyOfText([template.namespace, specOf(template)["appRef"], specOf(template)["name"]]),
    { path: ["spec", "name"], rule: "name-taken", what: "a template of this name of the App" },
  ),
  ...repeated(ofKind(manifests, "Tenant"), (tenant) => keyOfText([specOf(tenant)["displayName"] ?? tenant.name]), {
    path: ["spec", "displayName"],
    rule: "name-taken",
    what: "a Tenant of this name",
  }),
];

/** Secrets that the operator writes. */
const takenSecrets = (manifests: readonly Manifest[]): Finding[] =>
  repeated(
    manifests.filter(({ kind }) => kind === "ApiKey" || kind === "Webhook"),
    (one) => keyOfText([one.namespace ?? "", specOf(one)["connectionSecretName"] ?? specOf(one)["secretName"]]),
    { path: ["spec"], rule: "secret", what: "the Secret that this resource has written" },
  );

const keyOfText = (parts: readonly unknown[]): string | null =>
  parts.some((part) => part === undefined) ? null : JSON.stringify(parts);

/** What each kind needs of the tenant's plan. */
const features: Record<string, string> = { Webhook: "webhooks", LiveActivityType: "live_activities" };

/** What the plan of the tenant, where both are among the files, does not include or has no room for. */
const plansOf = (manifests: readonly Manifest[]): Finding[] => {
  const plans = new Map(ofKind(manifests, "Plan").map((plan) => [plan.name, specOf(plan)]));
  return ofKind(manifests, "Tenant").flatMap((tenant) => {
    const plan = plans.get(String(specOf(tenant)["plan"]));
    const own = manifests.filter(({ namespace = "" }) => claimsOf(tenant).includes(namespace));
    return plan === undefined
      ? []
      : [...withoutFeature(own, plan, String(specOf(tenant)["plan"])), ...withoutRoom(own, plan)];
  });
};

const withoutFeature = (own: readonly Manifest[], plan: Members, name: string): Finding[] =>
  own.flatMap((one) => {
    const feature = features[one.kind];
    const included = plan["features"];
    if (feature === undefined || (Array.isArray(included) && included.includes(feature))) return [];
    return [one.finding("plan", ["kind"], `the plan ${name} does not include ${feature}`)];
  });

const withoutRoom = (own: readonly Manifest[], { apps, webhookEndpoints }: Members): Finding[] => [
  ...beyond(ofKind(own, "App"), apps, "Apps a tenant"),
  ...[
    ...Map.groupBy(ofKind(own, "Webhook"), (one) => `${one.namespace ?? ""}/${String(specOf(one)["appRef"])}`).values(),
  ].flatMap((ofApp) => beyond(ofApp, webhookEndpoints, "Webhooks an App")),
];

const beyond = (manifests: readonly Manifest[], most: unknown, what: string): Finding[] =>
  typeof most === "number"
    ? manifests.slice(most).map((one) => one.finding("plan", ["kind"], `the plan has room for ${most} ${what}`))
    : [];

/** What resources refer to that is not among the files. */
const missing = (manifests: readonly Manifest[]): Finding[] => {
  const names = (kind: string): Set<string> =>
    new Set(ofKind(manifests, kind).map(({ namespace = "", name }) => `${namespace}/${name}`));
  const [apps, plans] = [names("App"), names("Plan")];
  const claimed = new Set(ofKind(manifests, "Tenant").flatMap(claimsOf));
  return manifests.flatMap((one) => [
    ...appRefsOf(one)
      .filter(({ name }) => !apps.has(`${one.namespace ?? ""}/${name}`))
      .map(({ name, path }) =>
        one.finding("reference", path, `there is no App ${name} in the namespace ${one.namespace ?? ""}`),
      ),
    ...(one.kind === "Tenant" && !plans.has(`/${String(specOf(one)["plan"])}`)
      ? [one.finding("reference", ["spec", "plan"], `there is no Plan ${String(specOf(one)["plan"])}`)]
      : []),
    ...(one.namespace !== undefined && !claimed.has(one.namespace)
      ? [one.finding("reference", ["metadata", "namespace"], `no Tenant names the namespace ${one.namespace}`)]
      : []),
  ]);
};

const appRefsOf = (one: Manifest): { name: string; path: Path }[] => {
  const { appRef, appRefs } = specOf(one);
  const many = Array.isArray(appRefs) ? appRefs : [];
  return [
    ...(typeof appRef === "string" ? [{ name: appRef, path: ["spec", "appRef"] }] : []),
    ...many.map((name: unknown, n) => ({ name: String(name), path: ["spec", "appRefs", n] })),
  ];
};
