import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { allResources } from "#core/channels/all-resources.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import { partitioning as partitioningOf } from "#core/domain/webhooks/partitions.ts";
import { announcer, changes } from "#core/queue/announce.ts";
import type { Nats } from "#core/queue/jetstream/connect.ts";
import { streamLevels } from "#core/queue/jetstream/stream-levels.ts";
import { subjects } from "#core/queue/subjects.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import type { Resolve } from "#core/runtime/http/resolve.ts";
import { type KubeClient, kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import { watchDependencies } from "#core/runtime/metrics/dependencies.ts";
import type { Metrics } from "#core/runtime/metrics/registry.ts";
import { combinations } from "#core/runtime/metrics/series.ts";
import { mjmlCompiler } from "#core/runtime/mjml/compiler.ts";
import { type Check, healthServer } from "#core/runtime/process/health-server.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { tenantResource } from "#core/schema/tenants/resource.ts";
import { kidsOf } from "#core/storage/keys/check.ts";
import { reseal } from "#core/storage/keys/reseal.ts";
import { keyUses } from "#core/storage/keys/uses.ts";
import type { Mongo } from "#core/storage/mongo/connect.ts";
import { storesPart } from "#core/storage/open.ts";
import { webhookBacklogs } from "#core/storage/usage/backlogs.ts";
import { tenantUsage } from "#core/storage/usage/tenant-usage.ts";
import { fencedClient, termFence } from "./engine/leadership/fence.ts";
import { holderName } from "./engine/leadership/leader.ts";
import { makeStores } from "./engine/stores.ts";
import { type TendKeys, tendKeys } from "./keys/tend.ts";
import { allKinds } from "./kinds/all.ts";
import { presence } from "./kube/api.ts";
import { configMaps } from "./kube/config-maps.ts";
import { eventRecorder, type Report } from "./kube/events.ts";
import { isLookedAt, type Scope, scopeOf } from "./kube/scope.ts";
import { secrets } from "./kube/secrets.ts";
import { watchLevels } from "./levels.ts";
import { type Operator, operator } from "./operator.ts";
import { makePlatform } from "./platform.ts";
import type { Platform } from "./records/platform.ts";
import { terms } from "./terms.ts";
import { type UsageBoard, usageBoard } from "./usage/board.ts";
import { type Measure, measure } from "./usage/measure.ts";
import { tendVersions } from "./versions/tend.ts";

/** The settings that the parts use; config/operator.ts describes each. */
export type Settings = {
  natsPrefix: string;
  natsReplicas: number;
  eventPartitions: number;
  keyRing: string;
  lostKeys: readonly string[];
  publicUrl: string;
  allowedRanges: string[];
  allowedPorts: number[];
  leaseNamespace: string;
  leaseName: string;
  labelSelector?: string;
  watchNamespaces: string[];
  watchSecrets: string[];
  workersPerKind: number;
  resyncSeconds: number;
  watchIdleSeconds: number;
  healthHost: string;
  healthPort: number;
};

export type PartsDeps = {
  config: Readonly<Settings>;
  /** The variables that say where the Kubernetes API is. */
  env: NodeJS.ProcessEnv;
  mongo: Mongo;
  nats: Nats;
  log: Log;
  metrics: Metrics<"operator">;
  clock: Clock;
  resolve: Resolve;
  timing: Timing;
};

/** The parts of the program, in their order of starting. */
export const parts = (deps: PartsDeps): Part[] => {
  const { stores, announced, mjml, engine, checks } = makeParts(deps);
  return [health(deps, checks), stores, announced, mjml, engine];
};

/** The health server. It starts before everything else. */
export const health = (
  { config, mongo, metrics }: Pick<PartsDeps, "config" | "mongo" | "metrics">,
  { jetstream, kubernetes, ...more }: Record<"jetstream" | "kubernetes", Check> & { started?: Check },
): Part => {
  const dependencies = { mongodb: mongo.ping, jetstream, kubernetes };
  watchDependencies(metrics.registry, dependencies);
  const checks = { ...dependencies, ...more };
  return healthServer({ host: config.healthHost, port: config.healthPort, checks, registry: metrics.registry });
};

/** `checks` say whether JetStream answers, and whether all resources have been listed. */
export const makeParts = (deps: PartsDeps) => {
  const { config, mongo, nats, metrics, log, clock } = deps;
  const client = clientOf(deps);
  const fence = termFence();
  const writes = fencedClient(client, fence);
  const holder = holderName(hostname());
  const report = eventRecorder({ client: writes, holder, clock, log });
  const link = { nats, subjects: subjects(config.natsPrefix) };
  const announced = changes(link);
  const board = usageBoard({ usage: tenantUsage(mongo.db), backlogs: webhookBacklogs(mongo.db), clock });
  const scope = scopeOf(config);
  const mjml = mjmlCompiler();
  const partitioning = partitioningOf(config.eventPartitions);
  const platform = makePlatform({
    clock,
    db: mongo.db,
    fence,
    announce: announcer(link).changed,
    stores: makeStores(allKinds),
    ...sight(client, scope),
    ...besides(client, writes, report),
    keyRing: keyRing(config.keyRing),
    randomBytes,
    jetstream: { nats, prefix: config.natsPrefix, replicas: config.natsReplicas, timing: deps.timing, partitioning },
    timing: deps.timing,
    network: network(deps),
    mjml,
    usage: board,
    publicUrl: config.publicUrl,
  });
  const engine = operator({
    client,
    writes,
    report,
    fence,
    terms: terms({ ...platform, log }),
    measure: measureOf(deps, platform, board),
    tendKeys: tendKeysOf(deps, platform),
    tendVersions: tendVersions({ client: writes, kinds: allResources, everyMs: config.resyncSeconds * 1000, log }),
    platform,
    changes: announced,
    lease: { namespace: config.leaseNamespace, name: config.leaseName, holder, timing: deps.timing.leader },
    timing: { relistMs: config.resyncSeconds * 1000, idleMs: config.watchIdleSeconds * 1000 },
    labelSelector: config.labelSelector,
    scope,
    workersPerKind: config.workersPerKind,
    clock,
    log,
    metrics,
  });
  watchLevels(metrics.registry, { stores: platform.stores, streams: () => streamLevels(nats.jsm, config.natsPrefix) });
  return {
    stores: storesPart({ ...deps, kids: kidsOf(config), partitioning }, nats),
    announced,
    mjml,
    engine,
    resources: platform.stores,
    checks: { jetstream: nats.ping, kubernetes: listed(engine) },
  };
};

/** What stands beside resources and is read, or written, for them. */
const besides = (client: KubeClient, writes: KubeClient, report: Report): Pick<Platform, "secrets" | "configMaps"> => ({
  secrets: secrets(writes, report),
  configMaps: configMaps(client),
});

/** What of the cluster the operator may see. */
const sight = (client: KubeClient, scope: Scope): Pick<Platform, "presence" | "isWatched"> => {
  const isWatched = (namespace: string): boolean => isLookedAt(scope, namespace);
  return { presence: presence(client, isWatched), isWatched };
};

const measureOf = ({ metrics, clock, log }: PartsDeps, platform: Platform, board: UsageBoard): Measure =>
  measure({ board, tenants: platform.stores.of(tenantResource), names: namesOf(platform), metrics, clock, log });

const tendKeysOf = ({ config, mongo, metrics, clock, log }: PartsDeps, { keyRing, fence }: Platform): TendKeys =>
  tendKeys({
    reseal: (signal) => reseal({ db: mongo.db, keyRing, check: fence.check }, signal),
    kids: keyRing.kids,
    keep: (counts) => keyUses(mongo.db).keep(counts, kidsOf(config), clock.now()),
    everyMs: config.resyncSeconds * 1000,
    soonestMs: 15_000,
    metrics,
    log,
  });

const network = ({ config, resolve }: PartsDeps): Platform["network"] => ({
  guard: addressGuard({ allow: config.allowedRanges, ports: config.allowedPorts }),
  resolve,
});

/** Names of tenants by their ids. */
const namesOf =
  ({ owners }: Pick<Platform, "owners">) =>
  async (ids: readonly string[]): Promise<Map<string, string>> => {
    const rows = await Promise.all(ids.map((id) => owners.tenants.find(id))); // read at once
    return new Map(rows.flatMap((row) => (row === null ? [] : [[row._id, row.name]])));
  };

const clientOf = ({ env, metrics }: PartsDeps): KubeClient => {
  const kubernetes = connection(env);
  const { host } = kubernetes.server;
  for (const labels of combinations({ method: ["GET", "POST", "PUT", "PATCH", "DELETE"], code: failures }))
    metrics.apiRequests.inc({ ...labels, host }, 0); // Prometheus sees no increase of a counter that begins with its first event
  return kubeClient({
    connection: kubernetes,
    onAnswer: (method, code) => metrics.apiRequests.inc({ method, host, code: code === 0 ? "<error>" : String(code) }),
  });
};

const failures = ["<error>", "429", "500", "503"];

const listed =
  ({ isSynced }: Operator) =>
  async (): Promise<void> => {
    if (!isSynced()) throw new Error("not everything has been listed yet");
  };
