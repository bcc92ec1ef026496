import { type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { expect } from "chai";
import { Redis } from "ioredis";
import { MongoClient, type MongoClientOptions } from "mongodb";
import { rootDir } from "../../../dev/files/paths.ts";
import { privateServers } from "../../support/servers/servers.ts";
import { until } from "../../support/until.ts";

describe("private servers", () => {
  let servers: Awaited<ReturnType<typeof privateServers<"mongodb" | "nats" | "redis">>>;

  before(async () => {
    servers = await privateServers({ mongodb: true, nats: true, redis: true });
  });
  after(() => servers.close());

  it("keeps what MongoDB has acknowledged over SIGKILL, at the same address", async () => {
    await withMongodb(servers.mongodb.url, (client) => client.db("probe").collection("rows").insertOne({}));
    await servers.mongodb.kill();
    await servers.mongodb.start();
    const kept = await withMongodb(servers.mongodb.url, count);
    expect(kept).to.equal(1);
  });

  it("leaves a paused MongoDB connected but silent", async () => {
    const timeouts = { socketTimeoutMS: 300, serverSelectionTimeoutMS: 500, connectTimeoutMS: 300 };
    servers.mongodb.pause();
    const error = await withMongodb(servers.mongodb.url, count, timeouts).catch((thrown: Error) => thrown.name);
    servers.mongodb.resume();
    expect(error).to.equal("MongoServerSelectionError");
    await withMongodb(servers.mongodb.url, count); // with no hurry: only the silence is to be short
  });

  it("keeps JetStream's messages over a stop", async () => {
    const before = await connect({ servers: servers.nats.url });
    await (await jetstreamManager(before)).streams.add({ name: "PROBE", subjects: ["probe"] });
    await jetstream(before).publish("probe", "kept");
    await before.close();
    await servers.nats.stop();
    await servers.nats.start();
    const after = await connect({ servers: servers.nats.url });
    const { state } = await (await jetstreamManager(after)).streams.info("PROBE");
    await after.close();
    expect(state.messages).to.equal(1);
  });

  it("takes Redis away and brings it back", async () => {
    const redis = new Redis(servers.redis.url, { maxRetriesPerRequest: 0, retryStrategy: () => 50 });
    redis.on("error", () => undefined); // expected: it is away for a while
    await redis.ping();
    await servers.redis.kill();
    const refused = await redis.ping().catch((error: Error) => error.name);
    await servers.redis.start();
    redis.options.maxRetriesPerRequest = null; // from here on it waits for the connection
    const answer = await redis.ping();
    redis.disconnect();
    expect(refused).to.equal("MaxRetriesPerRequestError");
    expect(answer).to.equal("PONG");
  });
});

describe("a process that starts private servers", () => {
  it("leaves none of them behind, also when it is killed", async () => {
    const script = `
      const { privateServers } = await import("./test/support/servers/servers.ts");
      const { mongodb, nats, redis } = await privateServers({ mongodb: true, nats: true, redis: true });
      process.send([...mongodb.pids(), ...nats.pids(), ...redis.pids()]);
      setInterval(() => {}, 60_000);
    `;
    const options = { cwd: rootDir, stdio: ["ignore", "ignore", "inherit", "ipc"] } satisfies SpawnOptions;
    const starter = spawn(process.execPath, ["--input-type=module", "--eval", script], options);
    const [pids] = (await once(starter, "message")) as [number[]]; // as the script sends
    expect(pids.filter(isAlive)).to.have.length(4);
    starter.kill("SIGKILL");
    await until(() => !pids.some(isAlive));
  });
});

/** A zombie has ended: only its parent has not asked yet. */
const isAlive = (pid: number): boolean => {
  try {
    return /^State:\s+[^ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
};

const count = (client: MongoClient): Promise<number> => client.db("probe").collection("rows").countDocuments();

const withMongodb = async <T>(
  url: string,
  work: (client: MongoClient) => Promise<T>,
  options: MongoClientOptions = {},
): Promise<T> => {
  const client = await MongoClient.connect(url, options);
  try {
    return await work(client);
  } finally {
    await client.close();
  }
};
