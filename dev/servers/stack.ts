import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { portOffsets } from "../files/paths.ts";
import { withLock } from "../processes/lock.ts";
import { endRecorded, isRunning, readRecord, recordedNames } from "../processes/records.ts";
import { treeCpuUs } from "../processes/usage.ts";
import { startKubernetes } from "./kubernetes.ts";
import { startMongodb } from "./mongodb.ts";
import { startNats } from "./nats.ts";
import { startRedis } from "./redis.ts";
import { startS3 } from "./s3.ts";

/** The servers that Herald needs. */
export const serverKinds = ["mongodb", "nats", "redis", "s3", "kubernetes"] as const;
export type ServerKind = (typeof serverKinds)[number];

/** Environment variables that hold the address of a user's own server. */
export const addressVariables = {
  mongodb: "MONGODB_URL",
  nats: "NATS_URL",
  redis: "REDIS_URL",
  s3: "S3_URL",
  kubernetes: "KUBECONFIG",
} as const satisfies Record<ServerKind, string>;

/** Where a server is. `address` is a URL, of S3 with account and bucket; for kubernetes the path of a kubeconfig. */
export type Found = { address: string; origin: "environment" | "running" | "started" };

export type StackOptions = {
  /** Folder for data, logs and pids. */
  dir: string;
  /** First port; see `portOffsets`. */
  portBase: number;
  which?: readonly ServerKind[];
  env?: NodeJS.ProcessEnv;
  /** See `ServerOptions`. */
  throwaway?: boolean;
};

export type Stack = {
  found: Partial<Record<ServerKind, Found>>;
  /** Ends the servers that this call started, and no others. */
  stop: () => Promise<void>;
};

/**
 * Finds or starts the servers, all at once. Each is the first of: the address in the environment, the one this folder
 * already runs, a new one, which outlives the caller. Waits while another program does the same in this folder.
 */
export const startStack = ({
  dir,
  portBase,
  which = serverKinds,
  env = process.env,
  throwaway = false,
}: StackOptions): Promise<Stack> =>
  withLock(join(dir, "lock"), async () => {
    const state = readState(dir);
    const outcomes = await Promise.allSettled(
      which.map(async (kind) => [kind, await findOrStart(kind, { dir, portBase, env, state, throwaway })] as const),
    );
    const entries = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    const found: Partial<Record<ServerKind, Found>> = Object.fromEntries(entries);
    const started = entries.filter(([, { origin }]) => origin === "started").map(([kind]) => kind);
    writeState(dir, { ...state, ...Object.fromEntries(started.map((kind) => [kind, found[kind]?.address])) });
    const failure = outcomes.find((outcome) => outcome.status === "rejected");
    if (failure) throw failure.reason;
    return { found, stop: () => endServers(dir, started) };
  });

/** Ends everything recorded in a stack's folder: first the programs, then the servers. Returns their names. */
export const stopStack = (dir: string): Promise<string[]> =>
  withLock(join(dir, "lock"), async () => {
    const servers = serverKinds.flatMap((kind) => recordNames[kind]);
    const programs = recordedNames(dir).filter((name) => !servers.includes(name));
    const ended = await Promise.all(programs.map(async (name) => ((await endRecorded(dir, name)) ? [name] : [])));
    const kinds = serverKinds.filter((kind) => recordNames[kind].some((name) => runs(dir, name)));
    await endServers(dir, serverKinds);
    rmSync(statePath(dir), { force: true });
    return [...ended.flat(), ...kinds];
  });

/** Whether any server recorded in a stack's folder runs. */
export const isStackRunning = (dir: string): boolean => recordedNames(dir).some((name) => runs(dir, name));

/** CPU so far of each server recorded in a stack's folder, in µs, with all that it has started. */
export const stackCpuUs = (dir: string): Readonly<Record<string, number>> =>
  Object.fromEntries(
    serverKinds.flatMap((kind) => recordNames[kind]).map((name) => [name, cpuOfRecorded(dir, name)] as const),
  );

const cpuOfRecorded = (dir: string, name: string): number => {
  const record = readRecord(dir, name);
  return record !== null && isRunning(record) ? treeCpuUs(record.pid) : 0;
};

type State = Partial<Record<ServerKind, string>>;
type Search = { dir: string; portBase: number; env: NodeJS.ProcessEnv; state: State; throwaway: boolean };

/** Names under which a server's processes are recorded, in the order in which they are ended. */
const recordNames: Record<ServerKind, string[]> = {
  mongodb: ["mongodb", "mongodb-postgres"],
  nats: ["nats"],
  redis: ["redis"],
  s3: ["s3"],
  kubernetes: ["kubernetes", "kubernetes-etcd"],
};

const findOrStart = async (kind: ServerKind, search: Search): Promise<Found> => {
  const { dir, portBase, env, state, throwaway } = search;
  const given = env[addressVariables[kind]];
  if (given) return { address: given, origin: "environment" };
  const known = state[kind];
  if (known && recordNames[kind].every((name) => runs(dir, name))) return { address: known, origin: "running" };
  await endServers(dir, [kind]); // half of it may be left of a start that was cut short
  const address = await starts[kind]({ dir, detached: true, throwaway }, (name) => portBase + portOffsets[name]);
  return { address, origin: "started" };
};

type Start = (
  options: { dir: string; detached: true; throwaway: boolean },
  port: (name: keyof typeof portOffsets) => number,
) => Promise<string>;

const starts: Record<ServerKind, Start> = {
  mongodb: async (options, port) => {
    const ports = { port: port("ferretdb"), postgresPort: port("postgres"), debugPort: port("ferretdbDebug") };
    return (await startMongodb({ ...options, ...ports })).url;
  },
  nats: async (options, port) =>
    (await startNats({ ...options, port: port("nats"), monitorPort: port("natsMonitor") })).url,
  redis: async (options, port) => (await startRedis({ ...options, port: port("redis") })).url,
  s3: async (options, port) => (await startS3({ ...options, port: port("s3") })).url,
  kubernetes: async (options, port) => {
    const ports = { port: port("kubernetes"), etcdPort: port("etcd"), etcdPeerPort: port("etcdPeer") };
    return (await startKubernetes({ ...options, ...ports })).kubeconfig;
  },
};

const endServers = async (dir: string, kinds: readonly ServerKind[]): Promise<void> => {
  const end = async (kind: ServerKind) => {
    for (const name of recordNames[kind]) await endRecorded(dir, name);
  };
  await Promise.all(kinds.map(end));
};

const runs = (dir: string, name: string): boolean => {
  const record = readRecord(dir, name);
  return record !== null && isRunning(record);
};

const statePath = (dir: string): string => join(dir, "state.json");

const readState = (dir: string): State => {
  try {
    return JSON.parse(readFileSync(statePath(dir), "utf8")) as State; // written below, by rename: whole or absent
  } catch {
    return {};
  }
};

const writeState = (dir: string, state: State): void => {
  mkdirSync(dir, { recursive: true });
  writeFileSync(`${statePath(dir)}.new`, JSON.stringify(state, null, 2));
  renameSync(`${statePath(dir)}.new`, statePath(dir));
};
