import type { Clock } from "#core/domain/clock.ts";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import type { KubeObject } from "#core/runtime/kube/objects.ts";
import type { OperatorMetrics } from "#core/runtime/metrics/operator.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { Changes } from "#core/storage/directory.ts";
import { type Controller, controller } from "./engine/controller.ts";
import { type Dependant, dependants } from "./engine/links.ts";
import { controllerMetrics, restartsAtZero } from "./engine/metrics.ts";
import type { Priority } from "./engine/work-queue.ts";
import { allKinds } from "./kinds/all.ts";
import type { Report } from "./kube/events.ts";
import { type ReflectorTiming, reflectors } from "./kube/reflector.ts";
import { configMapPartsOf, type Part, type Scope, secretPartsOf } from "./kube/scope.ts";
import { metadataOnly, trimMetadata } from "./kube/secrets.ts";
import type { Store, StoreEvent } from "./kube/store.ts";
import type { Claimant } from "./policies/management.ts";
import type { Kind } from "./records/kind.ts";
import type { Platform } from "./records/platform.ts";

/** What watching and reconciling need. */
export type ControllersDeps = {
  client: KubeClient;
  /** For requests that change something: it refuses them while this process does not lead. */
  writes: KubeClient;
  /** Reports to people, by Kubernetes Events. */
  report: Report;
  platform: Platform;
  /** What other programs announce. */
  changes: Changes;
  timing: ReflectorTiming;
  /** Where the operator may look. */
  scope: Scope;
  /** Only resources with these labels are looked at. */
  labelSelector?: string | undefined;
  workersPerKind: number;
  clock: Clock;
  log: Log;
  metrics: OperatorMetrics;
};

/**
 * A controller for each kind, and watches of Secrets and ConfigMaps. What happens to an object, to one of those or to a
 * record requeues the resources that depend on it.
 */
export const makeControllers = (
  deps: ControllersDeps,
): {
  controllers: readonly Controller[];
  /** Of the Secrets and the ConfigMaps. */
  watches: readonly Pick<Controller, "watch" | "synced">[];
  /** Has an object of a kind looked at again, when nothing else is to be done. */
  requeue: (kind: string, key: string) => void;
} => {
  const dependantsOf = dependants(allKinds, deps.platform.stores);
  const requeue = (found: readonly Dependant[], priority: Priority = "changed"): void => {
    for (const { kind, key } of found) controllers.get(kind)?.requeue(key, priority);
  };
  const make = (kind: Kind): Controller => {
    const name = kind.definition.kind;
    return kindController(deps, kind, (event) => requeue(dependantsOf.of(name, event)));
  };
  const controllers = new Map(allKinds.map((kind) => [kind.definition.kind, make(kind)]));
  // as a resync: what another program wrote into a record is drift, or to be reported in the status
  deps.changes.on((collection, id, appId) => {
    requeue(dependantsOf.ofRecord(collection, id), "resync");
    requeue(dependantsOf.waitingFor(collection, appId));
  });
  const { stores } = deps.platform;
  const watches = [
    watchMetadata(deps, { kind: "secret", store: stores.secrets, parts: secretPartsOf(deps.scope) }, (events) =>
      requeue(events.flatMap(dependantsOf.ofSecret)),
    ),
    watchMetadata(
      deps,
      { kind: "configmap", store: stores.configMaps, parts: configMapPartsOf(deps.scope) },
      (events) => requeue(events.flatMap(dependantsOf.ofConfigMap)),
    ),
  ];
  const requeueOne = (kind: string, key: string): void => requeue([{ kind, key }], "resync");
  return { controllers: [...controllers.values()], watches, requeue: requeueOne };
};

const kindController = (
  deps: ControllersDeps,
  { definition, handler }: Kind,
  onEvent: (event: StoreEvent<Claimant>) => void,
): Controller => {
  const { platform, workersPerKind, metrics } = deps;
  return controller({
    ...deps,
    definition,
    store: platform.stores.ofKind(definition.kind),
    handler: handler(platform),
    onEvent,
    concurrency: workersPerKind,
    metrics: controllerMetrics(metrics, definition.kind.toLowerCase(), workersPerKind),
  });
};

type Watched = { kind: "secret" | "configmap"; store: Store<KubeObject>; parts: Part[] };

/** Follows the metadata of every Secret, or ConfigMap, that the operator may look at. */
const watchMetadata = (
  { client, timing, log, metrics }: ControllersDeps,
  { kind, store, parts }: Watched,
  onNews: (events: readonly StoreEvent<KubeObject>[]) => void,
): Pick<Controller, "watch" | "synced"> => {
  restartsAtZero(metrics, kind);
  return reflectors<KubeObject>(
    {
      client,
      accept: metadataOnly,
      store,
      trim: trimMetadata,
      onEvents: (events) => onNews(events.filter((event) => event.kind !== "same")),
      onRestart: (reason) => metrics.watchRestarts.inc({ kind, reason }),
      timing,
      log,
    },
    parts,
  );
};
