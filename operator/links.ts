import { type KubeObject, keyOf } from "./kube/objects.ts";
import type { StoreEvent } from "./kube/store.ts";
import type { KindName, Stores } from "./stores.ts";

/** A resource that has to be looked at again. */
export type Wake = { kind: KindName; key: string };

/**
 * Which resources depend on an object to which something happened. A dependant reads what it needs itself: to wake one
 * too many costs a pass that writes nothing.
 */
export const dependants = (stores: Stores) => {
  const by = (kind: KindName, index: string, values: readonly string[]): Wake[] =>
    values.flatMap((value) => stores[kind].by(index, value).map((object) => ({ kind, key: keyOf(object) })));
  /** A tenant that waits to go, and apps that wait for a name or for a place in the plan. */
  const ownersAndRivals = (namespace: string): Wake[] => [
    ...by("tenants", "namespace", [namespace]),
    ...by("apps", "namespace", [namespace]),
  ];
  return {
    plan: ({ object }: StoreEvent<KubeObject>): Wake[] => by("tenants", "plan", [object.metadata.name]),
    tenant: (event: StoreEvent<{ spec: { plan: string; namespaces: string[] } } & KubeObject>): Wake[] => {
      const before = event.kind === "changed" ? event.before.spec.namespaces : [];
      const namespaces = [...new Set([...event.object.spec.namespaces, ...before])];
      const rivals = by("tenants", "namespace", namespaces).filter(({ key }) => key !== keyOf(event.object));
      const plan: Wake[] = event.kind === "deleted" ? [{ kind: "plans", key: event.object.spec.plan }] : [];
      return [...plan, ...rivals, ...by("apps", "namespace", namespaces), ...by("apiKeys", "namespace", namespaces)];
    },
    app: ({ kind, object }: StoreEvent<KubeObject>): Wake[] => {
      const { namespace = "" } = object.metadata;
      const key = keyOf(object);
      return [
        ...by("apiKeys", "app", [key]),
        ...by("webhooks", "app", [key]),
        ...by("liveActivityTypes", "app", [key]),
        ...(kind === "deleted" ? ownersAndRivals(namespace) : []),
      ];
    },
    endpoint: (id: string): Wake[] => by("webhooks", "endpoint", [id]),
    secret: ({ object }: StoreEvent<KubeObject>): Wake[] =>
      (["apps", "apiKeys", "webhooks"] as const).flatMap((kind) => by(kind, "secret", [keyOf(object)])),
  };
};
