import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { testDir, testPortBase } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { type Server } from "../../../dev/processes/process.ts";
import { startMongodb } from "../../../dev/servers/mongodb.ts";
import { startNats } from "../../../dev/servers/nats.ts";
import { startRedis } from "../../../dev/servers/redis.ts";
import { startS3 } from "../../../dev/servers/s3.ts";
import { type ServerKind, serverKinds, startStack } from "../../../dev/servers/stack.ts";

/** Addresses of the real servers that tests share. */
export type TestServers = { mongodbUrl: string; natsUrl: string; redisUrl: string; s3Url: string; kubeconfig: string };

/** Where `make test` tells the tests the addresses. */
export const testVariables = {
  mongodb: "HERALD_TEST_MONGODB_URL",
  nats: "HERALD_TEST_NATS_URL",
  redis: "HERALD_TEST_REDIS_URL",
  s3: "HERALD_TEST_S3_URL",
  kubernetes: "HERALD_TEST_KUBECONFIG",
} as const satisfies Record<ServerKind, string>;

/**
 * Addresses of the shared servers: from `make test`, or, when mocha is run by hand, from the test stack, which is
 * started if need be and left running (`make down` ends it). Call it in a `before` hook with a timeout of a minute.
 * Tests share them: use a database, a stream and a key prefix of your own.
 */
export const testServers = async (): Promise<TestServers> => {
  const addresses = addressesFrom(process.env) ?? (await startTestServers());
  const { mongodb: mongodbUrl, nats: natsUrl, redis: redisUrl, s3: s3Url, kubernetes: kubeconfig } = addresses;
  return { mongodbUrl, natsUrl, redisUrl, s3Url, kubeconfig };
};

/** A server of one test file's own, which can be taken away and started again at the same address with its data. */
export type PrivateServer = {
  url: string;
  /** Its processes, without what they started. */
  pids: () => number[];
  stop: () => Promise<void>;
  /** SIGKILL. */
  kill: () => Promise<void>;
  /** After stop or kill. */
  start: () => Promise<void>;
  /** SIGSTOP: connections stay open, nothing is answered. */
  pause: () => void;
  resume: () => void;
};

type PrivateKind = Exclude<ServerKind, "kubernetes">;

/**
 * Starts the wanted servers on free ports in a new folder, or in `at`. They end with the test process, at the latest. They do
 * not wait for the disk, unless they are to be `durable`, as those of an installation are.
 */
export const privateServers = async <K extends PrivateKind>(
  wanted: Record<K, true>,
  { durable = false, at }: { durable?: boolean; at?: string } = {},
): Promise<Record<K, PrivateServer> & { close: () => Promise<void> }> => {
  await mkdir(testDir, { recursive: true });
  const dir = at ?? (await mkdtemp(join(testDir, "private-")));
  const kinds = Object.keys(wanted) as K[]; // the record has no other keys
  const servers = await Promise.all(
    kinds.map(async (kind) => [kind, await privateServer(kind, { dir, throwaway: !durable })] as const),
  );
  const close = async () => {
    await Promise.all(servers.map(([, server]) => server.kill()));
    if (at === undefined) await rm(dir, { recursive: true, force: true });
  };
  // Object.fromEntries forgets which keys it was given.
  return { ...(Object.fromEntries(servers) as Record<K, PrivateServer>), close };
};

const addressesFrom = (env: NodeJS.ProcessEnv): Record<ServerKind, string> | null => {
  const entries = serverKinds.map((kind) => [kind, env[testVariables[kind]]] as const);
  if (entries.some(([, address]) => !address)) return null;
  return Object.fromEntries(entries) as Record<ServerKind, string>; // every kind has an address: just checked
};

const startTestServers = async (): Promise<Record<ServerKind, string>> => {
  const { found } = await startStack({ dir: testDir, portBase: testPortBase(), throwaway: true });
  const entries = serverKinds.map((kind) => [kind, found[kind]?.address]);
  return Object.fromEntries(entries) as Record<ServerKind, string>; // startStack finds all it is asked for, or throws
};

const privateServer = async (kind: PrivateKind, place: { dir: string; throwaway: boolean }): Promise<PrivateServer> => {
  const [port = 0, second = 0, third = 0] = await freePorts(3);
  const starts: Record<PrivateKind, () => Promise<Server>> = {
    mongodb: () => startMongodb({ ...place, port, postgresPort: second, debugPort: third }),
    nats: () => startNats({ ...place, port, monitorPort: second }),
    redis: () => startRedis({ ...place, port }),
    s3: () => startS3({ ...place, port }),
  };
  let server = await starts[kind]();
  return {
    url: server.url,
    pids: () => server.pids,
    stop: () => server.stop(),
    kill: () => server.kill(),
    start: async () => {
      server = await starts[kind]();
    },
    pause: () => server.pause(),
    resume: () => server.resume(),
  };
};
