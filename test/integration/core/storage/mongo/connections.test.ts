import { getServers, setServers } from "node:dns";
import { expect } from "chai";
import { Unavailable } from "#core/errors.ts";
import { connectMongo, isUnreachable, unavailable } from "#core/storage/mongo/connect.ts";
import { connectRedis } from "#core/storage/redis/connect.ts";
import { startNameServer } from "../../../../support/servers/name-server.ts";
import { type PrivateServer, privateServers } from "../../../../support/servers/servers.ts";
import { leastMs, until } from "../../../../support/until.ts";

const failureOf = async (call: () => Promise<unknown>): Promise<{ error: unknown; ms: number }> => {
  const beganMs = Date.now();
  const error: unknown = await call().then(
    () => null,
    (error: unknown) => error,
  );
  return { error, ms: Date.now() - beganMs };
};

describe("connections to stores that go away", () => {
  let mongodb: PrivateServer;
  let redis: PrivateServer;
  let close: (() => Promise<void>) | undefined;
  before(async () => {
    const servers = await privateServers({ mongodb: true, redis: true });
    ({ mongodb, redis, close } = servers);
  });
  after(() => close?.());

  it("MongoDB away fails within about 3 s as unavailable, and the same client works when it is back", async () => {
    const mongo = connectMongo({ url: mongodb.url, database: "test", appName: "test", maxPoolSize: 5 });
    const rows = mongo.db.collection<{ _id: number }>("rows");
    await rows.insertOne({ _id: 1 });
    await mongodb.stop();
    for (const call of [() => rows.insertOne({ _id: 2 }), () => rows.findOne({ _id: 1 })]) {
      const { error, ms } = await failureOf(call);
      expect(unavailable(error), String(error)).to.be.instanceOf(Unavailable);
      expect(ms).to.be.below(25_000); // the client's own limit is 30 s
    }
    const ping = async () =>
      expect((await failureOf(() => mongo.ping(AbortSignal.timeout(500)))).error).not.to.equal(null);
    expect(await leastMs(ping, { times: 3 })).to.be.below(2_500); // without its signal it would take 3 s
    await mongodb.start();
    await until(async () => (await failureOf(() => rows.findOne({ _id: 1 }))).error === null);
    expect(await rows.countDocuments()).to.equal(1);
    await mongo.close();
  });

  it("MongoDB that was away at the first connection is reached by the next one, by every call from then on", async () => {
    await mongodb.stop();
    const mongo = connectMongo({ url: mongodb.url, database: "test", appName: "test", maxPoolSize: 5 });
    for (const call of [mongo.connect, () => mongo.ping(AbortSignal.timeout(20_000))]) {
      const { error } = await failureOf(call);
      expect(isUnreachable(error), String(error)).to.equal(true);
    }
    await mongodb.start();
    await mongo.connect();
    await mongo.ping(AbortSignal.timeout(20_000));
    await mongo.close();
  });

  it("a name of mongodb+srv that DNS does not know is MongoDB that cannot be reached", async () => {
    const names = await startNameServer(() => "no such name");
    const before = getServers();
    setServers([names.address]);
    const mongo = connectMongo({ url: "mongodb+srv://mongodb.test/", database: "x", appName: "test", maxPoolSize: 2 });
    const { error } = await failureOf(mongo.connect);
    setServers(before);
    expect(isUnreachable(error), String(error)).to.equal(true);
    await mongo.close();
    await names.stop();
  });

  it("an error of another kind is not called unavailable", async () => {
    const mongo = connectMongo({ url: mongodb.url, database: "test", appName: "test", maxPoolSize: 5 });
    const rows = mongo.db.collection<{ _id: number }>("once");
    await rows.insertOne({ _id: 1 });
    const { error } = await failureOf(() => rows.insertOne({ _id: 1 }));
    expect(isUnreachable(error)).to.equal(false);
    expect(unavailable(error)).to.equal(error);
    await mongo.close();
  });

  it("Redis away or deaf fails fast, and the same client works when it is back", async () => {
    const errors: Error[] = [];
    const client = connectRedis({ url: redis.url, onError: (error) => errors.push(error) });
    await until(() => client.status === "ready");
    await client.set("a", "1");

    redis.pause();
    const deaf = await failureOf(() => client.get("a"));
    redis.resume();
    expect(deaf.error).to.be.instanceOf(Error);
    expect(deaf.ms).to.be.at.least(200); // without a limit it would not end

    await redis.kill();
    await until(() => client.status !== "ready");
    const away = await failureOf(() => client.get("a"));
    expect(away.error).to.be.instanceOf(Error);
    await redis.start();
    await until(() => client.status === "ready"); // it asks every 2 s
    expect(await client.set("b", "2")).to.equal("OK");
    expect(errors.length).to.be.below(20);
    client.disconnect();
  });
});
