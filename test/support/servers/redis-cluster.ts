import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { Redis } from "ioredis";
import { testDir } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { type RedisTls, startRedis } from "../../../dev/servers/redis.ts";
import { until } from "../until.ts";

export type RedisCluster = Awaited<ReturnType<typeof startRedisCluster>>;

const slots = 16_384;

/** Three nodes without replicas, each with a third of the slots; encrypted for clients with a certificate when `tls` is given. */
export const startRedisCluster = async (tls?: Omit<RedisTls, "port">) => {
  await mkdir(testDir, { recursive: true });
  const dir = await mkdtemp(join(testDir, "redis-cluster-"));
  const ports = await freePorts(9);
  const at = (index: number): number => ports[index] ?? 0;
  const nodes = await Promise.all(
    [0, 1, 2].map(async (index) => {
      const busPort = at(index + 3);
      const encrypted = tls && { tls: { ...tls, port: at(index + 6) } };
      const clustered = { busPort };
      const server = await startRedis({ dir, name: `redis-${index}`, port: at(index), clustered, ...encrypted });
      const client = new Redis({ port: at(index), host: "127.0.0.1" });
      const [from, until] = [index, index + 1].map((third) => Math.floor((slots * third) / 3));
      await client.cluster("ADDSLOTSRANGE", from ?? 0, (until ?? 0) - 1);
      const meetPort = at(tls === undefined ? index : index + 6);
      return { ...server, port: at(index), meetPort, busPort, client };
    }),
  );
  for (const { client } of nodes)
    for (const { meetPort, busPort } of nodes) await client.call("CLUSTER", "MEET", "127.0.0.1", meetPort, busPort);
  const isMade = async ({ client }: { client: Redis }) => {
    const told = String(await client.call("CLUSTER", "INFO"));
    return /cluster_state:ok/.test(told) && /cluster_slots_ok:16384/.test(told) && /cluster_known_nodes:3/.test(told);
  };
  await until(async () => (await Promise.all(nodes.map(isMade))).every(Boolean));
  for (const { client } of nodes) client.disconnect();
  const close = async (): Promise<void> => {
    await Promise.all(nodes.map((node) => node.kill()));
    await rm(dir, { recursive: true, force: true });
  };
  const url = tls === undefined ? `redis+cluster://127.0.0.1:${at(0)}` : `rediss+cluster://127.0.0.1:${at(6)}`;
  return { nodes, url, close };
};
