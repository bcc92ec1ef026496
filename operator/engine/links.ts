import { type PlanSpec, planResource } from "#core/schema/plans/resource.ts";
import { apiKeyCollection } from "#core/storage/api-keys/api-keys.ts";
import { appCollection } from "#core/storage/apps/apps.ts";
import { liveActivityTypeCollection } from "#core/storage/live-activities/types.ts";
import { planCollection } from "#core/storage/plans/plans.ts";
import { tenantCollection } from "#core/storage/tenants/tenants.ts";
import { webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { type KubeObject, keyOf, type Resource } from "../kube/objects.ts";
import type { Store, StoreEvent } from "../kube/store.ts";
import { type Claimant, idOf } from "../policies/management.ts";
import type { KindName, Stores } from "./stores.ts";

/** A resource that has to be looked at again. */
export type Dependant = { kind: KindName; key: string };

/**
 * Which resources depend on an object to which something happened. A dependant reads what it needs itself: to requeue one
 * too many costs a pass that writes nothing.
 */
export const dependants = (stores: Stores) => {
  const by = (kind: KindName, index: string, values: readonly string[]): Dependant[] =>
    values.flatMap((value) => stores[kind].by(index, value).map((object) => ({ kind, key: keyOf(object) })));
  /** A tenant that waits to go, and apps that wait for a name or for a place in the plan. */
  const ownersAndRivals = (namespace: string): Dependant[] => [
    ...by("tenants", "namespace", [namespace]),
    ...by("apps", "namespace", [namespace]),
  ];
  return {
    plan: (event: StoreEvent<Resource<PlanSpec, { id?: string }>>): Dependant[] => [
      ...by("tenants", "plan", [idOf(planResource, event.object)]),
      ...rivals("plans", stores.plans)(event),
    ],
    tenant: (event: EventOf<Stores["tenants"]>): Dependant[] => {
      const before = event.kind === "changed" ? event.before.spec.namespaces : [];
      const namespaces = [...new Set([...event.object.spec.namespaces, ...before])];
      const claimants = by("tenants", "namespace", namespaces).filter(({ key }) => key !== keyOf(event.object));
      const plan = event.kind === "deleted" ? by("plans", "external", [event.object.spec.plan]) : [];
      const others = [...claimants, ...rivals("tenants", stores.tenants)(event)];
      return [...plan, ...others, ...by("apps", "namespace", namespaces), ...by("apiKeys", "namespace", namespaces)];
    },
    app: (event: EventOf<Stores["apps"]>): Dependant[] => {
      const { kind, object } = event;
      const { namespace = "" } = object.metadata;
      const key = keyOf(object);
      return [
        ...by("apiKeys", "app", [key]),
        ...by("webhooks", "app", [key]),
        ...by("liveActivityTypes", "app", [key]),
        ...(kind === "deleted" ? ownersAndRivals(namespace) : []),
        ...rivals("apps", stores.apps)(event),
      ];
    },
    apiKey: rivals("apiKeys", stores.apiKeys),
    webhook: rivals("webhooks", stores.webhooks),
    liveActivityType: rivals("liveActivityTypes", stores.liveActivityTypes),
    /** Of a record that somebody changed: its endpoint's resource, whose status tells of it, and those that name it. */
    record: (collection: string, id: string): Dependant[] => {
      const kind = kinds[collection];
      const endpoint = kind === "webhooks" ? by("webhooks", "endpoint", [id]) : [];
      return kind === undefined ? [] : [...endpoint, ...by(kind, "external", [id])];
    },
    secret: ({ object }: StoreEvent<KubeObject>): Dependant[] =>
      (["apps", "apiKeys", "webhooks"] as const).flatMap((kind) => by(kind, "secret", [keyOf(object)])),
  };
};

/** Resources that are after the same record or name: when one goes, or lets go, the next takes over. */
const rivals =
  <R extends Claimant>(kind: KindName, store: Store<R>) =>
  (event: StoreEvent<R>): Dependant[] => {
    const objects = event.kind === "changed" ? [event.object, event.before] : [event.object];
    const ids = objects.flatMap(({ status, spec }) => [status?.id ?? [], spec.externalName ?? []].flat());
    const others = objects.flatMap((object) => store.sharing("name", object));
    const keys = new Set([...ids.flatMap((id) => store.by("external", id)), ...others].map(keyOf));
    keys.delete(keyOf(event.object));
    return [...keys].map((key) => ({ kind, key }));
  };

type EventOf<S> = S extends Store<infer R> ? StoreEvent<R> : never;

const kinds: Record<string, KindName> = {
  [planCollection.name]: "plans",
  [tenantCollection.name]: "tenants",
  [appCollection.name]: "apps",
  [apiKeyCollection.name]: "apiKeys",
  [webhookCollection.name]: "webhooks",
  [liveActivityTypeCollection.name]: "liveActivityTypes",
};
