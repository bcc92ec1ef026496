import type { Clock } from "#core/domain/clock.ts";
import type { OperatorMetrics } from "#core/runtime/metrics/operator.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { apiKeyResource } from "#core/schema/api-keys/resource.ts";
import { appResource } from "#core/schema/apps/resource.ts";
import type { ResourceDefinition } from "#core/schema/kubernetes/definition.ts";
import { liveActivityTypeResource } from "#core/schema/live-activities/resource.ts";
import { planResource } from "#core/schema/plans/resource.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { webhookResource } from "#core/schema/webhooks/resource.ts";
import type { Changes } from "#core/storage/settings/directory.ts";
import { type Controller, controller } from "./engine/controller.ts";
import { type Dependant, dependants } from "./engine/links.ts";
import { controllerMetrics, restartsAtZero } from "./engine/metrics.ts";
import type { Handler } from "./engine/reconcile.ts";
import type { KindName, Stores } from "./engine/stores.ts";
import type { Priority } from "./engine/work-queue.ts";
import type { KubeClient } from "./kube/client.ts";
import type { Report } from "./kube/events.ts";
import type { KubeObject, Resource } from "./kube/objects.ts";
import { type ReflectorTiming, reflector } from "./kube/reflector.ts";
import { metadataOnly, secretsPath, trimSecret } from "./kube/secrets.ts";
import type { Store, StoreEvent } from "./kube/store.ts";
import type { Handlers } from "./platform.ts";

export type Controllers = Record<KindName, Controller>;

/** What watching and reconciling need. */
export type KindsDeps = {
  client: KubeClient;
  /** The same, for what changes something: lets nothing out when this process does not lead. */
  writes: KubeClient;
  /** Reports to people, by Kubernetes Events. */
  report: Report;
  stores: Stores;
  handlers: Handlers;
  /** What other programs announce. */
  changes: Changes;
  timing: ReflectorTiming;
  /** Only resources with these labels are looked at. */
  labelSelector?: string | undefined;
  workersPerKind: number;
  clock: Clock;
  log: Log;
  metrics: OperatorMetrics;
};

/** A controller for each kind. What happens to an object requeues those that depend on it. */
export const makeControllers = (deps: KindsDeps): Controllers => {
  const { stores, handlers } = deps;
  const links = dependants(stores);
  const make = maker(deps, (found) => requeueAll(controllers, found));
  const controllers: Controllers = {
    plans: make({ definition: planResource, store: stores.plans, handler: handlers.plans, link: links.plan }),
    tenants: make({ definition: tenantResource, store: stores.tenants, handler: handlers.tenants, link: links.tenant }),
    apps: make({ definition: appResource, store: stores.apps, handler: handlers.apps, link: links.app }),
    apiKeys: make({ definition: apiKeyResource, store: stores.apiKeys, handler: handlers.apiKeys, link: links.apiKey }),
    webhooks: make({
      definition: webhookResource,
      store: stores.webhooks,
      handler: handlers.webhooks,
      link: links.webhook,
    }),
    liveActivityTypes: make({
      definition: liveActivityTypeResource,
      store: stores.liveActivityTypes,
      handler: handlers.liveActivityTypes,
      link: links.liveActivityType,
    }),
  };
  return controllers;
};

/** Follows the metadata of every Secret; a change requeues the resources that read or write it. */
export const watchSecrets = (deps: KindsDeps, controllers: Controllers): Pick<Controller, "watch" | "synced"> => {
  const { client, stores, timing, log, metrics } = deps;
  const link = dependants(stores).secret;
  restartsAtZero(metrics, "secret");
  const { run: watch, synced } = reflector<KubeObject>({
    client,
    path: secretsPath,
    accept: metadataOnly,
    store: stores.secrets,
    trim: trimSecret,
    onEvents: (events) => requeueAll(controllers, events.filter(({ kind }) => kind !== "same").flatMap(link)),
    onRestart: (reason) => metrics.watchRestarts.inc({ kind: "secret", reason }),
    timing,
    log,
  });
  return { watch, synced };
};

/**
 * Has resources looked at again when another program announces that their record changed, so that status tells. It is a
 * resync of one: what has to be set right is drift.
 */
export const watchRecords = ({ stores, changes }: KindsDeps, controllers: Controllers): void => {
  const link = dependants(stores).record;
  changes.on((collection, id) => requeueAll(controllers, link(collection, id), "resync"));
};

type Kind<R extends Resource> = {
  definition: ResourceDefinition;
  store: Store<R>;
  handler: Handler<R>;
  link: (event: StoreEvent<R>) => Dependant[];
};

const maker =
  (deps: KindsDeps, requeue: (found: readonly Dependant[]) => void) =>
  <R extends Resource>({ definition, store, handler, link }: Kind<R>): Controller =>
    controller<R>({
      ...deps,
      definition,
      store,
      handler,
      onEvent: (event) => requeue(link(event)),
      concurrency: deps.workersPerKind,
      metrics: controllerMetrics(deps.metrics, definition.kind.toLowerCase(), deps.workersPerKind),
    });

const requeueAll = (controllers: Controllers, found: readonly Dependant[], priority: Priority = "changed"): void => {
  for (const { kind, key } of found) controllers[kind].requeue(key, priority);
};
