import type { Seen } from "../kit/cluster.ts";
import { channelsOf, factsOf } from "./facts.ts";
import { isReady, type Node, nodeOf, walk } from "./node.ts";

/** What to show of all that was seen. */
export type Shown = {
  /** Only resources of it, and the Tenant that owns it; null: of all. */
  namespace: string | null;
  /** Only the Apps of this name, with what is theirs. */
  app: string | null;
};

/**
 * The resources as a tree: Tenants with the Apps of their namespaces, these with what refers to them. A Plan that is not
 * Ready is shown before the Tenants on it, an open Incident among the whole cluster. What no Tenant owns stands below its
 * namespace.
 */
export const treeOf = (seen: readonly Seen[], { namespace, app }: Shown): Node[] => {
  const of = (kind: string): Seen[] => seen.filter((one) => one.kind === kind);
  const owned = seen.filter((one) => isWithin(one, namespace));
  const apps = owned.filter(({ kind, metadata }) => kind === "App" && (app === null || metadata.name === app));
  const appNodes = new Map(apps.map((one) => [keyOf(one.metadata.namespace, one.metadata.name), appNode(one)]));
  const rest = owned.filter(({ kind }) => kind !== "App");
  const loose = rest.filter((one) => !joinsApp(one, appNodes));
  const namespaces = groupedByNamespace([...apps, ...(app === null ? loose : [])]);
  const nodesIn = (name: string): Node[] => (namespaces.get(name) ?? []).map((one) => nodeIn(one, appNodes));
  const tenants = of("Tenant").filter((tenant) => isShown(tenant, namespaces, { namespace, app }));
  const claimed = new Set(tenants.flatMap(namespacesOf));
  const isWhole = namespace === null && app === null;
  const used = new Set(tenants.map(({ spec }) => spec["plan"]));
  const plans = of("Plan")
    .filter(({ metadata }) => isWhole || used.has(metadata.name))
    .map((plan) => nodeOf(plan));
  return [
    ...plans.filter((plan) => !isReady(plan)),
    ...tenants.map((tenant) => withChildren(nodeOf(tenant, factsOf(tenant)), namespacesOf(tenant).flatMap(nodesIn))),
    ...[...namespaces.keys()]
      .filter((name) => !claimed.has(name))
      .map((name) => unowned(name, nodesIn(name), of("Tenant"))),
    ...(isWhole ? of("Incident").filter(isOpen) : []).map((incident) => nodeOf(incident, factsOf(incident))),
  ];
};

const isWithin = ({ metadata }: Seen, namespace: string | null): boolean =>
  metadata.namespace !== undefined && (namespace === null || metadata.namespace === namespace);

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ""}/${name}`;

const appNode = (app: Seen): Node => withChildren(nodeOf(app, factsOf(app)), channelsOf(app));

const withChildren = (node: Node, children: readonly Node[]): Node => ({ ...node, children: [...children] });

/** Puts what refers to one App below it. */
const joinsApp = (one: Seen, apps: ReadonlyMap<string, Node>): boolean => {
  const { appRef, appRefs } = one.spec;
  const [name, ...others] = Array.isArray(appRefs) ? appRefs : [appRef];
  if (typeof name !== "string" || others.length > 0) return false;
  const app = apps.get(keyOf(one.metadata.namespace, name));
  app?.children.push(nodeOf(one, factsOf(one)));
  return app !== undefined;
};

const groupedByNamespace = (all: readonly Seen[]): Map<string, Seen[]> =>
  Map.groupBy(all, ({ metadata }) => metadata.namespace ?? "");

const nodeIn = (one: Seen, apps: ReadonlyMap<string, Node>): Node =>
  (one.kind === "App" ? apps.get(keyOf(one.metadata.namespace, one.metadata.name)) : undefined) ??
  nodeOf(one, factsOf(one));

/** The namespaces that a Tenant has, or asks for before the operator has seen it. */
const namespacesOf = ({ spec, status }: Seen): string[] => {
  const names = status?.["namespaces"] ?? spec["namespaces"];
  return Array.isArray(names) ? names.filter((name): name is string => typeof name === "string") : [];
};

const isShown = (tenant: Seen, namespaces: ReadonlyMap<string, unknown>, { namespace, app }: Shown): boolean => {
  const names = namespacesOf(tenant);
  if (app !== null) return names.some((name) => namespaces.has(name));
  return namespace === null || names.includes(namespace);
};

const isOpen = ({ spec }: Seen): boolean => {
  const updates = spec["updates"];
  const last: unknown = Array.isArray(updates) ? updates.at(-1) : undefined;
  return !(typeof last === "object" && last !== null && "status" in last && last.status === "resolved");
};

const unowned = (name: string, children: Node[], tenants: readonly Seen[]): Node => ({
  kind: "Namespace",
  namespace: null,
  name,
  // Without a Tenant that could be listed, nobody knows whether one owns it.
  ...(tenants.length === 0
    ? { ready: "True", reason: "", message: "its Tenant is not shown: you may not list Tenants, or there is none" }
    : { ready: "False", reason: "NoTenant", message: "no Tenant names this namespace" }),
  facts: "",
  id: null,
  createdAt: null,
  children,
});

/** The first cause of trouble: what is not Ready although all that it stands on is. */
export const firstCause = (roots: readonly Node[]): Node | undefined =>
  roots.flatMap(walk).find((node) => !isReady(node));

export const notReady = (roots: readonly Node[]): Node[] => roots.flatMap(walk).filter((node) => !isReady(node));
