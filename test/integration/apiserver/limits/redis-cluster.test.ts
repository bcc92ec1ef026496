import { expect } from "chai";
import { Redis } from "ioredis";
import { connectRedis, type RedisClient } from "#core/storage/redis/connect.ts";
import { sharedBuckets } from "../../../../apiserver/limits/shared-buckets.ts";
import { type TakeFrom, takeFrom } from "../../../../apiserver/limits/take-token.ts";
import { installation } from "../../../support/api/api.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { type RedisCluster, startRedisCluster } from "../../../support/servers/redis-cluster.ts";
import { until } from "../../../support/until.ts";

describe("a Redis Cluster of three nodes", () => {
  let cluster: RedisCluster;
  let redis: RedisClient;
  let take: TakeFrom;
  const bucket = { capacity: 5, perSecond: 0.001 }; // nothing flows in while the test runs
  const names = Array.from({ length: 60 }, (_, n) => `rate:key_${n}`);
  const counted = { redis: 0, local: 0 };

  before(async () => {
    cluster = await startRedisCluster();
    redis = connectRedis({ url: cluster.url });
    await until(() => redis.status === "ready");
    take = takeFrom({
      takeShared: sharedBuckets(redis),
      replicas: 1,
      clock: { now: () => new Date() },
      log: { info: () => undefined, warn: () => undefined } as never, // sound: no other of its members is used
      count: (_decision, where) => counted[where]++,
    });
  });
  after(async () => {
    redis?.disconnect();
    await cluster?.close();
  });

  it("counts the requests of each key exactly, whichever node its bucket is on", async () => {
    const asked = await Promise.all(names.flatMap((name) => Array.from({ length: 7 }, () => take(name, bucket))));
    expect(asked.filter(({ isAllowed }) => isAllowed)).to.have.length(5 * names.length);
    expect(counted.local).to.equal(0);
    for (const node of cluster.nodes) expect(await keysOf(node.port)).to.be.greaterThan(0);
  });

  it("is used by the apiserver for the rates of keys", async () => {
    const site = await installation({ HERALD_REDIS_URL: cluster.url });
    const tenant = await seedTenant(site.db, { plan: { _id: "slow", api_rps: 5 } });
    const list = () => site.api.call("GET", `/v1/notifications?app_id=${tenant.app._id}`, { token: tenant.token });
    const seen = new Set<number>(); // of replies that were decided by the cluster: one that answers late is not waited for
    await until(async () => {
      const replies = await Promise.all(Array.from({ length: 30 }, list));
      for (const { status, headers } of replies) if (!headers.has("X-RateLimit-Degraded")) seen.add(status);
      return seen.size === 2;
    });
    await site.close();
    expect(seen).to.deep.equal(new Set([200, 429]));
  });

  it("goes on for the buckets of two nodes when the third is lost, whose buckets each replica counts by itself", async () => {
    await cluster.nodes[0]?.kill();
    const fresh = names.map((name) => `${name}/later`);
    await until(async () => {
      const [before] = [counted.redis];
      await Promise.all(fresh.map((name) => take(name, bucket)));
      return counted.redis > before;
    }, 20_000);
    const before = { ...counted };
    const asked = await Promise.all(fresh.map((name) => take(`${name}/last`, bucket)));
    expect(asked.every(({ isAllowed }) => isAllowed)).to.equal(true);
    expect(counted.redis - before.redis, "of the nodes that are there").to.be.greaterThan(0);
    expect(counted.local - before.local, "of the one that is lost").to.be.greaterThan(0);
  });
});

const keysOf = async (port: number): Promise<number> => {
  const node = new Redis({ port, host: "127.0.0.1" });
  const keys = await node.dbsize();
  node.disconnect();
  return keys;
};
