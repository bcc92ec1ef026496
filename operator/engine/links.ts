import { type KubeObject, keyFrom, keyOf } from "#core/runtime/kube/objects.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import type { Indexes, Store, StoreEvent } from "../kube/store.ts";
import { type Claimant, idOf } from "../policies/management.ts";
import type { ResourceOf, Stores } from "./stores.ts";

/** Says which resources of a kind are requeued when something happens to an object of another kind. */
export type Link = {
  /** The other kind. */
  from: string;
  /** An index of the kind's own store, and its values by which an object of the other kind finds its dependants. */
  index: string;
  valuesOf: (object: Claimant) => readonly string[];
  /** `deleted`: nothing else that happens to the other object matters. */
  when: "always" | "deleted";
};

/** Makes a link from the kind that is defined so. */
export const link = <D extends ResourceDefinition>(
  { kind }: D,
  index: string,
  valuesOf: (object: ResourceOf<D>) => readonly string[],
  when: Link["when"] = "always",
): Link => ({
  from: kind,
  index,
  valuesOf: valuesOf as unknown as Link["valuesOf"], // sound: it is given objects of this kind alone
  when,
});

/** The part of a kind that decides who is requeued. */
export type Linked<R extends Claimant = Claimant> = {
  definition: ResourceDefinition;
  /** Name of the collection of its records. */
  collection: { name: string };
  links?: readonly Link[];
  /** Indexes of its own, for its links and its handler. */
  indexes?: Indexes<R>;
  /** Names of the Secrets beside a resource on which it depends. */
  secrets?: (resource: R) => readonly string[];
  /** The same of ConfigMaps. */
  readsConfigMaps?: (resource: R) => readonly string[];
  /** Whether its status reports what other programs write into its record, so that their announcements requeue it. */
  isRecordReported?: boolean;
};

/**
 * A kind's own indexes, and those that every kind has: `external`, the record that a resource names, `secret`,
 * `configMap` and `record`.
 */
export const indexesOf = <R extends Claimant>(kind: Linked<R>): Indexes<R> => {
  const { definition, secrets, readsConfigMaps, isRecordReported } = kind;
  const isNamed = ({ spec }: R): boolean => spec.externalName !== undefined || definition.idKind === null;
  return {
    external: (resource) => (isNamed(resource) ? [idOf(definition, resource)] : []),
    ...(secrets && { secret: (resource: R) => secrets(resource).map((name) => beside(resource, name)) }),
    ...(readsConfigMaps && {
      configMap: (resource: R) => readsConfigMaps(resource).map((name) => beside(resource, name)),
    }),
    ...(isRecordReported && { record: (resource: R) => [idOf(definition, resource)] }),
    ...kind.indexes,
  };
};

/** The key of another object in the same namespace. */
export const beside = ({ metadata }: KubeObject, name: string): string => keyFrom(metadata.namespace, name);

/** Whether a resource was refused for what it says, as its condition Ready has it. */
export const isRefused = ({ status }: { status?: object }): boolean => {
  const { conditions = [] } = (status ?? {}) as { conditions?: { type: string; status: string }[] }; // sound: as every kind's
  return conditions.some(({ type, status: is }) => type === "Ready" && is === "False");
};

/** The namespace of an object, as values of an index. */
export const namespaceOf = ({ metadata: { namespace } }: KubeObject): string[] =>
  namespace === undefined ? [] : [namespace];

/** A resource that has to be looked at again. */
export type Dependant = { kind: string; key: string };

/**
 * Which resources depend on an object to which something happened. A dependant reads what it needs itself: to requeue
 * one too many costs a pass that writes nothing.
 */
export const dependants = (kinds: readonly Linked[], { byKind }: Pick<Stores, "byKind">) => {
  const by = (kind: string, index: string, values: Iterable<string>): Dependant[] => {
    const found = [...values].flatMap((value) => byKind.get(kind)?.by(index, value) ?? []);
    return [...new Set(found.map(keyOf))].map((key) => ({ kind, key }));
  };
  const links = kinds.flatMap((kind) => (kind.links ?? []).map((one) => ({ ...one, to: kind.definition.kind })));
  return {
    /** Those of an object of a kind, the object itself left out. */
    of: (kind: string, event: StoreEvent<Claimant>): Dependant[] => {
      const objects = event.kind === "changed" ? [event.object, event.before] : [event.object];
      const linked = links
        .filter(({ from, when }) => from === kind && (when === "always" || when === event.kind))
        .flatMap(({ to, index, valuesOf }) => by(to, index, new Set(objects.flatMap(valuesOf))));
      const all = [...linked, ...rivals(objects, byKind.get(kind)).map((key) => ({ kind, key }))];
      return all.filter((one) => one.kind !== kind || one.key !== keyOf(event.object));
    },
    /** Those of a record that somebody changed: who reports of it, and who names it. */
    ofRecord: (collection: string, id: string): Dependant[] =>
      kinds
        .filter((kind) => kind.collection.name === collection)
        .flatMap(({ definition: { kind } }) => [...by(kind, "record", [id]), ...by(kind, "external", [id])]),
    /** Those that could not be applied, and may be now that a record of their kind in their app has changed. */
    waitingFor: (collection: string, appId: string | undefined): Dependant[] => {
      const apps = appId === undefined ? [] : (byKind.get("App")?.by("record", appId) ?? []);
      return kinds
        .filter((kind) => kind.collection.name === collection)
        .flatMap(({ definition: { kind } }) => by(kind, "waiting", apps.map(keyOf)));
    },
    ofConfigMap: ({ object }: StoreEvent<KubeObject>): Dependant[] =>
      kinds.flatMap(({ definition: { kind } }) => by(kind, "configMap", [keyOf(object)])),
    ofSecret: ({ object }: StoreEvent<KubeObject>): Dependant[] =>
      kinds.flatMap(({ definition: { kind } }) => by(kind, "secret", [keyOf(object)])),
  };
};

/** Resources that ask for the same record or name: when one is deleted, or releases it, the next takes it. */
const rivals = (objects: readonly Claimant[], store: Store<Claimant> | undefined): string[] => {
  const ids = objects.flatMap(({ status, spec }) => [status?.id ?? [], spec.externalName ?? []].flat());
  const found = [
    ...ids.flatMap((id) => store?.by("external", id) ?? []),
    ...objects.flatMap((object) => store?.sharing("name", object) ?? []),
  ];
  return found.map(keyOf);
};
