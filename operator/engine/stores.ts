import type { Static } from "typebox";
import type { KubeObject, Resource } from "#core/runtime/kube/objects.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { type Indexes, objectStore, type Store } from "../kube/store.ts";
import type { Claimant } from "../policies/management.ts";

export type Stores = ReturnType<typeof makeStores>;

/** A resource of the kind that is so defined. */
export type ResourceOf<D> =
  D extends ResourceDefinition<infer Spec, infer Status> ? Resource<Static<Spec>, Static<Status>> : never;

/** What the operator has seen of each kind, and the metadata of every Secret and ConfigMap. */
export const makeStores = (kinds: readonly { definition: ResourceDefinition; indexes: Indexes<Claimant> }[]) => {
  const byKind = new Map(kinds.map(({ definition, indexes }) => [definition.kind, objectStore(indexes)]));
  const ofKind = (kind: string): Store<Claimant> => {
    const store = byKind.get(kind);
    if (store === undefined) throw new TypeError(`${kind} is not in kinds/all.ts`);
    return store;
  };
  return {
    /** The store of a kind, typed by its definition. */
    of: <D extends ResourceDefinition>({ kind }: D): Store<ResourceOf<D>> =>
      ofKind(kind) as unknown as Store<ResourceOf<D>>, // sound: it has objects of this kind alone
    ofKind,
    /** All of them, owners before what they own. */
    byKind: byKind as ReadonlyMap<string, Store<Claimant>>,
    secrets: objectStore<KubeObject>(),
    configMaps: objectStore<KubeObject>(),
  };
};
