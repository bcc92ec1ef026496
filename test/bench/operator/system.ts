import { randomBytes } from "node:crypto";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { KubeClient } from "#core/runtime/kube/client.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { type ServerProcess } from "../../../dev/processes/process.ts";
import { startProgram } from "../../../dev/processes/programs.ts";
import { treeCpuUs } from "../../../dev/processes/usage.ts";
import { type Cluster, type Round, type Stores, soon } from "../servers.ts";
import { type Measured, readMetrics } from "./metrics.ts";
import type { Posted } from "./resources.ts";

/** An operator in a process of its own. */
export type RunningOperator = Pick<ServerProcess, "pid" | "stop" | "kill"> & { measured: () => Promise<Measured> };

/** A cluster and stores of the measurement's own, so that all their CPU is its. */
export type OperatorBench = {
  client: KubeClient;
  start: (env?: Record<string, string>) => Starting;
  /** CPU so far of each server, µs. */
  cpuUs: () => Record<string, number>;
};

/** An operator that is not ready yet can be asked what it measured. */
export type Starting = { startedAt: number; measured: () => Promise<Measured>; ready: Promise<RunningOperator> };

const posting = 48; // requests at a time

/** Runs a measurement on stores and a cluster. */
export const onOperatorBench = ({ withStores, withCluster }: Round, run: (bench: OperatorBench) => Promise<void>) =>
  withStores((stores) => withCluster((cluster) => onServers(stores, cluster, run)), { durable: true });

const onServers = async (
  stores: Stores,
  { kubeconfig, client, pids: clusterPids }: Cluster,
  run: (bench: OperatorBench) => Promise<void>,
): Promise<void> => {
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "operator-"));
  const env = {
    KUBECONFIG: kubeconfig,
    HERALD_MONGODB_URL: stores.mongodb.url,
    HERALD_MONGODB_DATABASE: "bench",
    HERALD_NATS_URL: stores.nats.url,
    HERALD_NATS_PREFIX: "bench",
    HERALD_KEY_RING: `k1:${randomBytes(32).toString("base64")}`,
    HERALD_HEALTH_HOST: "127.0.0.1",
  };
  const { start, stopAll } = operators(dir, env);
  const [apiserver, etcd] = clusterPids;
  const [ferretdb, postgres] = stores.mongodb.pids();
  const pids = { "kube-apiserver": apiserver, etcd, ferretdb, postgres, nats: stores.nats.pids()[0] };
  try {
    const cpuUs = () => Object.fromEntries(Object.entries(pids).map(([name, pid]) => [name, treeCpuUs(pid ?? 0)]));
    await run({ client, start, cpuUs });
  } finally {
    await stopAll();
    await rm(dir, { recursive: true, force: true });
  }
};

/** Posts lists one after another, each many at a time. */
export const post = async (client: KubeClient, lists: readonly (readonly Posted[])[]): Promise<void> => {
  for (const list of lists) {
    await mapBounded(list, posting, ({ path, body }) => client.call({ method: "POST", path, body }, soon()));
  }
};

const operators = (dir: string, env: Record<string, string>) => {
  const running = new Set<RunningOperator>();
  let started = 0;
  const start = (more: Record<string, string> = {}): Starting => {
    const name = `operator-${started++}`;
    const healthPort = freePorts(1).then(([port = 0]) => port);
    const measured = async () => readMetrics(`http://127.0.0.1:${await healthPort}/metrics`);
    const begin = async (): Promise<RunningOperator> => {
      const settings = { program: "operator", name, dir, healthPort: await healthPort } as const;
      const { pid, stop, kill } = await startProgram({ ...settings, env: { ...env, ...more } });
      const operator = { pid, stop, kill, measured };
      running.add(operator);
      return operator;
    };
    return { startedAt: performance.now(), measured, ready: begin() };
  };
  const stopAll = () => Promise.all([...running].map(({ kill }) => kill()));
  return { start, stopAll };
};
