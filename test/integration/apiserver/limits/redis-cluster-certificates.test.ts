import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { Redis } from "ioredis";
import { certificatesIn } from "#core/runtime/tls/certificates.ts";
import { connectRedis, type RedisClient } from "#core/storage/redis/connect.ts";
import { sharedBuckets } from "../../../../apiserver/limits/shared-buckets.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { authority } from "../../../../dev/simulators/kit/certificate.ts";
import { putCertificate } from "../../../support/servers/certificate-folder.ts";
import { type RedisCluster, startRedisCluster } from "../../../support/servers/redis-cluster.ts";
import { until } from "../../../support/until.ts";
import { keptLog } from "../../core/queue/helpers.ts";

const [first, second] = [authority("first authority"), authority("second authority")];

describe("a Redis Cluster that asks for certificates", () => {
  let dir: string;
  let cluster: RedisCluster;
  let redis: RedisClient;

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "redis-certificates-"));
    const { files } = await putCertificate(join(dir, "nodes"), first, first.cert + second.cert);
    cluster = await startRedisCluster(files);
    const { folder } = await putCertificate(join(dir, "program"), first, first.cert);
    redis = connectRedis({ url: cluster.url, tls: certificatesIn({ dir: folder, log: keptLog().log }) });
  });
  after(async () => {
    redis?.disconnect();
    await cluster?.close();
    await rm(dir, { recursive: true, force: true });
  });

  /** How many of 60 buckets, which are on all nodes, are counted by the cluster. */
  const counted = async (): Promise<number> => {
    const take = sharedBuckets(redis);
    const wanted = Array.from({ length: 60 }, (_, n) => ({
      name: `rate:key_${n}`,
      capacity: 5,
      perSecond: 1,
      count: 1,
    }));
    const taken = await take(wanted).catch(() => []); // not connected yet
    return taken.filter((one) => !(one instanceof Error)).length;
  };

  it("counts on each of its nodes for a program that shows one", async () => {
    await until(async () => (await counted()) === 60);
    const refused = new Redis(cluster.url.replace("+cluster", ""), {
      tls: { ca: first.cert },
      retryStrategy: () => null,
    });
    const end = await new Promise<Error>((failed) => refused.once("error", failed));
    expect(String(end)).to.match(/alert|ECONNRESET|EPIPE|closed/);
  });

  it("goes on once all nodes have dropped the former certificates", async () => {
    await putCertificate(join(dir, "program"), second, first.cert + second.cert);
    const { files } = await putCertificate(join(dir, "nodes"), second, second.cert);
    for (const { port } of cluster.nodes) {
      const node = new Redis({ port, host: "127.0.0.1" });
      await node.config("SET", "tls-cert-file", files.cert, "tls-key-file", files.key, "tls-ca-cert-file", files.ca);
      await node.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes");
      node.disconnect();
    }
    await until(async () => (await counted()) === 60);
  });
});
