import { mkdir, mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";
import { type KubeClient, kubeClient } from "#core/runtime/kube/client.ts";
import { connection } from "#core/runtime/kube/connection.ts";
import { rootDir, testDir } from "../../dev/files/paths.ts";
import { freePorts } from "../../dev/processes/free-ports.ts";
import type { ProgramName } from "../../dev/processes/programs.ts";
import { startKubernetes } from "../../dev/servers/kubernetes.ts";
import { s3Settings } from "../../dev/servers/s3.ts";
import type { Manifest } from "../integration/operator/support/harness.ts";
import { privateServers } from "../support/servers/servers.ts";
import { giveAndroid } from "../support/system/sending.ts";
import { type System, type SystemProgram, startSystem } from "../support/system/system.ts";
import { until } from "../support/until.ts";
import { loopbackAllowed } from "../support/webhooks/traffic.ts";
import { type Sink, startSink } from "./sink.ts";

/** The stores of an installation. They end with this process, at the latest. */
export type Stores = Awaited<ReturnType<typeof startStores>>;

/** A Kubernetes API that knows Herald's kinds. It ends with this process, at the latest. */
export type Cluster = {
  kubeconfig: string;
  client: KubeClient;
  /** Of kube-apiserver and etcd. */
  pids: readonly number[];
  close: () => Promise<void>;
};

/** An installation on such stores; webhooks may go to loopback, pushes go to a receiver that answers at once. */
export type Installation = {
  stores: Stores;
  system: System;
  /** Starts a program that no other measurement uses, so that it may be stopped. */
  startOwn: System["start"];
  /** What the simulator of APNs has taken so far. */
  apnsCounts: Sink["counts"];
  /** Gives the app of a system an account of `android_push`. */
  giveAndroid: (system: System) => Promise<void>;
  close: () => Promise<void>;
};

/** What measurements are made on. */
export type Round = {
  /** Whether everything is only tried, in seconds: the figures say nothing then. */
  isShort: boolean;
  /** Whether a loop keeps a core busy all the time. */
  isBusy: boolean;
  /** Stores of the measurement's own, so that all their CPU is its. `durable` ones wait for the disk. */
  withStores: <T>(work: (stores: Stores) => Promise<T>, options?: { durable?: boolean }) => Promise<T>;
  /** `apnsDelayMs` is the time until a push is answered. A short round heeds none of the options. */
  withInstallation: <T>(
    work: (made: Installation) => Promise<T>,
    options?: { durable?: boolean; apnsDelayMs?: number },
  ) => Promise<T>;
  withCluster: <T>(work: (cluster: Cluster) => Promise<T>) => Promise<T>;
  /** What a push by node:http2 alone costs now, µs of CPU: machines are faster at one time than at another. */
  pushUs: () => Promise<number>;
};

export type RoundOptions = Pick<Round, "isBusy" | "pushUs">;

/** Everything anew for each measurement. */
export const wholeRound = (options: RoundOptions): Round & Closing => ({
  ...options,
  isShort: false,
  withStores: (work, { durable = false } = {}) => using(startStores(durable), work),
  withInstallation: (work, { durable = false, apnsDelayMs = 0 } = {}) =>
    using(startStores(durable), (stores) => using(install(stores, apnsDelayMs), work)),
  withCluster: (work) => using(startCluster(), work),
  close: async () => undefined,
});

/** One set of everything, started when it is first asked for; a measurement gets an organisation of its own. */
export const shortRound = (options: RoundOptions): Round & Closing => {
  const stores = onlyOnce(() => startStores(false));
  const cluster = onlyOnce(startCluster);
  const installation = onlyOnce(async () => withSharedPrograms(await install(await stores())));
  return {
    ...options,
    isShort: true,
    withStores: async (work) => work(await stores()),
    withInstallation: async (work) => {
      const made = await installation();
      return work({ ...made, system: await made.system.another() });
    },
    withCluster: async (work) => work(await cluster()),
    close: async () => {
      for (const one of [installation, cluster, stores]) await one.close();
    },
  };
};

type Closing = { close: () => Promise<void> };

const onlyOnce = <T extends Closing>(start: () => Promise<T>): (() => Promise<T>) & Closing => {
  let started: Promise<T> | undefined;
  const close = async (): Promise<void> => {
    const one = await started?.catch(() => undefined); // whoever asked for it knows that it did not start
    await one?.close();
  };
  return Object.assign(() => (started ??= start()), { close });
};

/** A measurement's first dispatcher is the first one that runs, its second one the second; and so on, for each program. */
const withSharedPrograms = (made: Installation): Installation => {
  const running: Record<ProgramName, Promise<SystemProgram>[]> = { operator: [], apiserver: [], dispatcher: [] };
  const another = async (): Promise<System> => {
    const started = { operator: 0, apiserver: 0, dispatcher: 0 };
    const start: System["start"] = (program, env) =>
      (running[program][started[program]++] ??= made.system.start(program, env));
    return { ...(await made.system.another()), start };
  };
  return { ...made, system: { ...made.system, another } };
};

const install = async (stores: Stores, apnsDelayMs = 0): Promise<Installation> => {
  const apns = await startSink({ delayMs: apnsDelayMs });
  const fcm = await startSink({ provider: "fcm", credentials: apns.credentials });
  const stopSinks = (): void => [apns, fcm].forEach((sink) => sink.stop());
  try {
    const system = await startSystem({
      mongodbUrl: stores.mongodb.url,
      natsUrl: stores.nats.url,
      redisUrl: stores.redis.url,
      apns,
      plan: { api_rps: 100_000, waiting_event_bytes: 4_000_000_000 },
      env: { HERALD_TIMING: "usual", ...loopbackAllowed, ...s3Settings(stores.s3.url), HERALD_FCM_URL: fcm.url },
    });
    const close = async (): Promise<void> => {
      await system.stop();
      stopSinks();
    };
    const giveAndroidTo = (of: System) => giveAndroid(of, apns.credentials, fcm);
    return { stores, system, startOwn: system.start, apnsCounts: apns.counts, giveAndroid: giveAndroidTo, close };
  } catch (error) {
    stopSinks();
    throw error;
  }
};

const using = async <T extends Closing, R>(starting: Promise<T>, work: (started: T) => Promise<R>): Promise<R> => {
  const started = await starting;
  try {
    return await work(started);
  } finally {
    await started.close();
  }
};

const startStores = (durable: boolean) =>
  privateServers({ mongodb: true, nats: true, redis: true, s3: true }, { durable });

const startCluster = async (): Promise<Cluster> => {
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "cluster-"));
  const [port = 0, etcdPort = 0, etcdPeerPort = 0] = await freePorts(3);
  const { kubeconfig, pids, kill } = await startKubernetes({ dir, port, etcdPort, etcdPeerPort });
  const client = kubeClient({ connection: connection({ KUBECONFIG: kubeconfig }) });
  const close = async (): Promise<void> => {
    client.close();
    await kill();
    await rm(dir, { recursive: true, force: true });
  };
  try {
    await applyCrds(client);
  } catch (error) {
    await close();
    throw error;
  }
  return { kubeconfig, client, pids, close };
};

type Crd = Manifest & { status?: { conditions?: { type: string; status: string }[] } };

const crdsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

const applyCrds = async (client: KubeClient): Promise<void> => {
  const dir = join(rootDir, "crds");
  const files = await Promise.all((await readdir(dir)).map((file) => readFile(join(dir, file), "utf8")));
  const crds = files.map((text) => parse(text) as Crd);
  await Promise.all(crds.map((body) => client.call({ method: "POST", path: crdsPath, body }, soon())));
  const isEstablished = async ({ metadata }: Crd): Promise<boolean> => {
    const crd = await client.call<Crd>({ method: "GET", path: `${crdsPath}/${metadata.name}` }, soon());
    return crd.status?.conditions?.some(({ type, status }) => type === "Established" && status === "True") ?? false;
  };
  await until(async () => (await Promise.all(crds.map(isEstablished))).every(Boolean), 30_000);
};

/** How long one request to the Kubernetes API may take. */
export const soon = (): AbortSignal => AbortSignal.timeout(15_000);
