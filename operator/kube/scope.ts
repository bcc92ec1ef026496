import type { KubeObject } from "#core/runtime/kube/objects.ts";
import { collectionPath } from "#core/runtime/kube/paths.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";

/** Where an operator may look. */
export type Scope = {
  /** Null: everywhere. Kinds without a namespace are looked at in any case. */
  namespaces: readonly string[] | null;
  /** By namespace, the names of the only Secrets that it may look at; a namespace that is not there has no such bound. */
  secrets: ReadonlyMap<string, readonly string[]>;
};

export type ScopeSettings = { watchNamespaces: readonly string[]; watchSecrets: readonly string[] };

/** A part of a collection that is listed and watched by itself. */
export type Part = { path: string; fieldSelector?: string; isWithin: (object: KubeObject) => boolean };

/**
 * From the settings: names of namespaces, none for all; and Secrets as NAMESPACE/NAME.
 * @throws Error when a Secret is of a namespace that is not looked at
 */
export const scopeOf = ({ watchNamespaces, watchSecrets }: ScopeSettings): Scope => {
  const named = Map.groupBy(watchSecrets, (path) => path.split("/")[0] ?? "");
  for (const namespace of named.keys())
    if (!watchNamespaces.includes(namespace))
      throw new Error(
        `HERALD_OPERATOR_WATCH_SECRETS names ${namespace}/, which HERALD_OPERATOR_WATCH_NAMESPACES has not`,
      );
  return {
    namespaces: watchNamespaces.length === 0 ? null : watchNamespaces,
    secrets: new Map(
      [...named].map(([namespace, paths]) => [namespace, paths.map((path) => path.split("/")[1] ?? "")]),
    ),
  };
};

/** Whether an operator looks at objects of a namespace; null is that of objects without one. */
export const isLookedAt = ({ namespaces }: Scope, namespace: string | null): boolean =>
  namespace === null || namespaces === null || namespaces.includes(namespace);

/** The parts of a kind's collection. */
export const partsOf = ({ namespaces }: Scope, definition: ResourceDefinition): Part[] =>
  definition.scope === "Cluster" || namespaces === null
    ? [everything(collectionPath(definition))]
    : namespaces.map((namespace) => inNamespace(collectionPath(definition, { namespace }), namespace));

/** The parts of the collection of Secrets. */
export const secretPartsOf = ({ namespaces, secrets }: Scope): Part[] =>
  namespaces === null
    ? [everything("/api/v1/secrets")]
    : namespaces.flatMap((namespace) => {
        const part = inNamespace(`/api/v1/namespaces/${namespace}/secrets`, namespace);
        return secrets.get(namespace)?.map((name) => onlyOf(part, name)) ?? [part];
      });

/** The parts of the collection of ConfigMaps. */
export const configMapPartsOf = ({ namespaces }: Scope): Part[] =>
  namespaces === null
    ? [everything("/api/v1/configmaps")]
    : namespaces.map((namespace) => inNamespace(`/api/v1/namespaces/${namespace}/configmaps`, namespace));

const everything = (path: string): Part => ({ path, isWithin: () => true });

const inNamespace = (path: string, namespace: string): Part => ({
  path,
  isWithin: ({ metadata }) => metadata.namespace === namespace,
});

const onlyOf = (part: Part, name: string): Part => ({
  ...part,
  fieldSelector: `metadata.name=${name}`,
  isWithin: (object) => part.isWithin(object) && object.metadata.name === name,
});
