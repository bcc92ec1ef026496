import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { parse } from "yaml";
import { allResources } from "#core/channels/all-resources.ts";
import { type Clock, systemClock } from "#core/domain/clock.ts";
import type { Timing } from "#core/domain/timing.ts";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { dns, type Resolve } from "#core/runtime/http/resolve.ts";
import { type KubeClient, kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import { isConflict, isNotFound } from "#core/runtime/kube/errors.ts";
import { createMetrics, type Metrics } from "#core/runtime/metrics/registry.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { Condition } from "#core/schema/kubernetes/common.ts";
import { connectMongo } from "#core/storage/mongo/connect.ts";
import { rootDir } from "../../../../dev/files/paths.ts";
import { parts, type Settings } from "../../../../operator/parts.ts";
import { lendDatabase } from "../../../support/servers/database.ts";
import { type TestServers, testServers } from "../../../support/servers/servers.ts";
import { testTiming, testTimingName } from "../../../support/suite/soak.ts";
import { until } from "../../../support/until.ts";

/** An object as a test writes it. */
export type Manifest = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> };
  spec?: object;
  stringData?: Record<string, string>;
  data?: Record<string, string>;
};

export type Seen = Manifest & {
  metadata: { uid: string; generation: number; resourceVersion: string; deletionTimestamp?: string };
  status?: { id?: string; observedGeneration?: number; conditions?: Condition[] } & Record<string, unknown>;
  data?: Record<string, string>;
};

/**
 * One Herald installation of a test file's own: a database, a stream prefix, a Lease and a label of its own; on the
 * servers that tests share, but for those given.
 */
export type Installation = Awaited<ReturnType<typeof installation>>;

export const installation = async (own: Partial<TestServers> = {}) => {
  const servers = { ...(await testServers()), ...own };
  const id = `op${randomBytes(4).toString("hex")}`;
  const client = kubeClient({ connection: connection({ KUBECONFIG: servers.kubeconfig }) });
  const cluster = clusterOf(client, id);
  const lent = await lendDatabase(servers.mongodbUrl);
  const database = lent.db.databaseName;
  const nats = await connectNats({ url: servers.natsUrl, name: "test" });
  await (own.kubeconfig === undefined ? inSharedCluster(cluster.applyCrds) : cluster.applyCrds());
  const running = new Set<Started>();
  const settings = settingsOf(id);
  const start = async (options: StartOptions = {}): Promise<Started> => {
    const started = await startOperator({ ...settings, ...options.settings }, { servers, database, ...options });
    running.add(started);
    return started;
  };
  return {
    ...cluster,
    id,
    servers,
    settings,
    db: lent.db,
    nats,
    start,
    /** Stops the operators, cleans the cluster of what carries the label and drops the stores. */
    close: async () => {
      for (const started of running) await started.stop();
      await cluster.wipe();
      for await (const { config } of nats.jsm.streams.list()) {
        if (config.name.startsWith(`${id}-`)) await nats.jsm.streams.delete(config.name);
      }
      await lent.giveBack();
      await nats.close();
      client.close();
    },
  };
};

let sharedKinds: Promise<void> | undefined;

/** Whether the shared cluster has the kinds is looked up once in a process: nothing takes them away. */
const inSharedCluster = (applyCrds: () => Promise<void>): Promise<void> => {
  sharedKinds ??= applyCrds().catch((error: unknown) => {
    sharedKinds = undefined;
    throw error;
  });
  return sharedKinds;
};

/** Variables for an operator in a process of its own. */
export const environmentOf = (
  { servers, settings, db }: Installation,
  more: NodeJS.ProcessEnv = {},
): NodeJS.ProcessEnv => ({
  ...process.env,
  KUBECONFIG: servers.kubeconfig,
  HERALD_MONGODB_URL: servers.mongodbUrl,
  HERALD_MONGODB_DATABASE: db.databaseName,
  HERALD_NATS_URL: servers.natsUrl,
  HERALD_NATS_PREFIX: settings.natsPrefix,
  HERALD_KEY_RING: settings.keyRing,
  HERALD_TIMING: testTimingName,
  HERALD_HEALTH_HOST: "127.0.0.1",
  HERALD_HEALTH_PORT: "0",
  HERALD_OPERATOR_LEASE: settings.leaseName,
  HERALD_OPERATOR_SELECTOR: settings.labelSelector,
  ...more,
});

export const label = "herald.dev/test";

const settingsOf = (id: string): Settings & { labelSelector: string } => ({
  natsPrefix: id,
  natsReplicas: 1,
  eventPartitions: 16,
  keyRing: `k1:${randomBytes(32).toString("base64")}`,
  lostKeys: [],
  publicUrl: "http://herald.example",
  allowedRanges: [],
  allowedPorts: [443],
  leaseNamespace: "default",
  leaseName: id,
  labelSelector: `${label}=${id}`,
  watchNamespaces: [],
  watchSecrets: [],
  workersPerKind: 10,
  resyncSeconds: 600,
  watchIdleSeconds: 20,
  healthHost: "127.0.0.1",
  healthPort: 0,
});

/** `mongodbUrl`, `natsUrl`, `kubeconfig`: other servers than the shared ones, or a link to them. */
export type StartOptions = {
  settings?: Partial<Settings>;
  kubeconfig?: string;
  mongodbUrl?: string;
  natsUrl?: string;
  clock?: Clock;
  /** Leases as an operator has them that users run; else short ones. */
  timing?: Timing;
  /** Where names lead, other than DNS says. */
  resolve?: Resolve;
};
export type Started = { stop: () => Promise<void>; metrics: Metrics<"operator">; log: () => string };

const startOperator = async (
  config: Settings,
  { servers, database, ...options }: { servers: TestServers; database: string } & StartOptions,
): Promise<Started> => {
  const { kubeconfig = servers.kubeconfig, mongodbUrl = servers.mongodbUrl, natsUrl = servers.natsUrl } = options;
  const mongo = connectMongo({ url: mongodbUrl, database, appName: "op", maxPoolSize: 10 });
  const nats = await connectNats({ url: natsUrl, name: "op" });
  const lines: string[] = [];
  const destination = new Writable({
    write: (chunk, _encoding, done) => {
      lines.push(String(chunk));
      done();
    },
  });
  const metrics = createMetrics("operator");
  const all = parts({
    config,
    env: { KUBECONFIG: kubeconfig },
    mongo,
    nats,
    metrics,
    log: createLog({ program: "operator", level: "info", destination }),
    clock: options.clock ?? systemClock,
    resolve: options.resolve ?? dns(),
    timing: options.timing ?? testTiming,
  });
  for (const part of all) await part.start(new AbortController().signal);
  let stopped: Promise<void> | null = null;
  return { metrics, log: () => lines.join(""), stop: () => (stopped ??= stopAll(all)) };
};

const stopAll = async (all: readonly Part[]): Promise<void> => {
  for (const part of [...all].reverse()) await part.stop(AbortSignal.timeout(10_000));
};

const plurals: Record<string, string> = {
  ...Object.fromEntries(allResources.map(({ kind, plural }) => [kind, plural])),
  Secret: "secrets",
  ConfigMap: "configmaps",
  Namespace: "namespaces",
  CustomResourceDefinition: "customresourcedefinitions",
};

const kinds = allResources.map(({ kind }) => kind).toReversed(); // what hangs on others first

const listOf = (kind: string): string => `/apis/herald.dev/v1alpha1/${plurals[kind]}`;

const pathOf = ({ apiVersion, kind, metadata }: Manifest): string => {
  const group = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${group}${metadata.namespace ? `/namespaces/${metadata.namespace}` : ""}/${plurals[kind]}`;
};

/** What kubectl would be used for. Everything that is applied gets the installation's label. */
const clusterOf = (client: KubeClient, id: string) => {
  const get = async (object: Manifest): Promise<Seen | null> => {
    try {
      return await client.call<Seen>({ method: "GET", path: `${pathOf(object)}/${object.metadata.name}` }, soon());
    } catch (error) {
      if (isNotFound(error)) return null;
      throw error;
    }
  };
  const patch = (object: Manifest, body: object): Promise<Seen> =>
    client.call<Seen>({ method: "PATCH", path: `${pathOf(object)}/${object.metadata.name}`, body }, soon());
  const apply = (object: Manifest): Promise<Seen> => {
    const labels = { ...object.metadata.labels, [label]: id };
    return put({ ...object, metadata: { ...object.metadata, labels } });
  };
  const put = async (object: Manifest): Promise<Seen> => {
    const create = () => client.call<Seen>({ method: "POST", path: pathOf(object), body: object }, soon());
    return create()
      .catch((error: unknown) => {
        if (isConflict(error)) return patch(object, object);
        throw error;
      })
      .catch((error: unknown) => {
        if (isNotFound(error)) return create(); // the one that was there was on its way out
        throw error;
      });
  };
  const remove = async (object: Manifest): Promise<void> => {
    const path = `${pathOf(object)}/${object.metadata.name}`;
    await client.call({ method: "DELETE", path }, soon()).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  };
  const conditionOf = async (object: Manifest, type: string): Promise<Condition | undefined> => {
    const seen = await get(object);
    const condition = seen?.status?.conditions?.find((one) => one.type === type);
    return condition?.observedGeneration === seen?.metadata.generation ? condition : undefined;
  };
  /** Waits until Ready is so for the newest generation, and gives the object. */
  const ready = async (
    object: Manifest,
    status: Condition["status"] = "True",
    reason?: string,
    mostMs = 60_000,
  ): Promise<Seen> => {
    await until(async () => {
      const condition = await conditionOf(object, "Ready");
      return condition?.status === status && (reason === undefined || condition.reason === reason);
    }, mostMs).catch(async (cause: unknown) => {
      const seen = JSON.stringify((await get(object))?.status ?? null);
      throw new Error(`${object.kind} ${object.metadata.name} is not ${status} ${reason ?? ""}: ${seen}`, { cause });
    });
    return (await get(object)) as Seen; // it was there a moment ago
  };
  const gone = (object: Manifest, mostMs = 60_000): Promise<void> =>
    until(async () => (await get(object)) === null, mostMs);
  /** Establishes the committed CRDs, unless they are: they are all installations', and each change costs the server much. */
  const applyCrds = async (): Promise<void> => {
    const dir = join(rootDir, "crds");
    const crds = readdirSync(dir).map((file) => parse(readFileSync(join(dir, file), "utf8")) as Manifest);
    for (const crd of crds) await put(crd);
    await until(async () => (await Promise.all(crds.map((crd) => conditionOfCrd(get, crd)))).every(Boolean), 60_000);
    await until(async () => (await Promise.all(kinds.map((kind) => listed(kind, "limit=1")))).every(Boolean), 60_000);
  };
  /** Objects of a kind; null while its storage is made, after its definition was established or changed. */
  const listed = async (kind: string, query: string): Promise<Seen[] | null> =>
    client
      .call<{ items: Seen[] }>({ method: "GET", path: `${listOf(kind)}?${query}` }, soon())
      .then(({ items }) => items)
      .catch(() => null);
  const wipe = async (): Promise<void> => {
    for (const kind of kinds) {
      let items: Seen[] | null = null;
      await until(async () => (items = await listed(kind, `labelSelector=${label}%3D${id}`)) !== null, 60_000);
      for (const { metadata } of items ?? []) {
        const object = { apiVersion: "herald.dev/v1alpha1", kind, metadata };
        await remove(object);
        await patch(object, { metadata: { finalizers: null } }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error;
        });
      }
    }
  };
  return { client, get, patch, apply, remove, ready, gone, applyCrds, wipe, conditionOf };
};

const conditionOfCrd = async (get: (crd: Manifest) => Promise<Seen | null>, crd: Manifest): Promise<boolean> => {
  const conditions = ((await get(crd))?.status?.conditions ?? []) as { type: string; status: string }[];
  return conditions.some(({ type, status }) => type === "Established" && status === "True");
};

const soon = (): AbortSignal => AbortSignal.timeout(60_000);
