import { once } from "node:events";
import { existsSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { expect } from "chai";
import { connectMongo, type Mongo } from "#core/storage/mongo/connect.ts";
import { type Api, checksOf, startApi } from "../../../support/api/api.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";
import { privateServers } from "../../../support/servers/servers.ts";
import { leastMs, until } from "../../../support/until.ts";

describe("the apiserver when a store is away", () => {
  let servers: Awaited<ReturnType<typeof privateServers<"mongodb" | "nats" | "redis">>>;
  let mongo: Mongo;
  let api: Api;
  let tenant: Awaited<ReturnType<typeof seedTenant>>;
  let slow: typeof tenant;

  before(async () => {
    servers = await privateServers({ mongodb: true, nats: true, redis: true });
    mongo = connectMongo({ url: servers.mongodb.url, database: "faults", appName: "tests", maxPoolSize: 5 });
    api = await startApi(addresses(), { name: "faults" }, { HERALD_REPLICAS: "4" });
    tenant = await seedTenant(mongo.db, { plan: { _id: "p", api_rps: 1_000 } });
    slow = await seedTenant(mongo.db, { plan: { _id: "slow", api_rps: 8 } });
  });
  after(async () => {
    await api.process.kill();
    await mongo.close();
    await servers.close();
  });

  const addresses = () => ({
    mongodbUrl: servers.mongodb.url,
    natsUrl: servers.nats.url,
    redisUrl: servers.redis.url,
  });
  const send = (more: object = {}) =>
    api.call("POST", "/v1/notifications", {
      token: tenant.token,
      body: { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" }, ...more },
    });
  const list = ({ app, token } = tenant) => api.call("GET", `/v1/notifications?app_id=${app._id}`, { token });

  it("limits each replica to its share while Redis is away, says so, and returns to the shared bucket", async () => {
    const ask = () => list(slow);
    await until(async () => (await ask()).headers.get("X-RateLimit-Degraded") === null);
    await servers.redis.kill();
    await until(async () => (await ask()).headers.get("X-RateLimit-Degraded") === "1");
    const began = performance.now();
    const replies = await Promise.all(Array.from({ length: 30 }, ask));
    const filled = Math.ceil(((performance.now() - began) / 1000) * 2);
    expect(replies.filter(({ status }) => status === 200).length).to.be.within(0, 2 + filled);
    expect(replies.some(({ status }) => status === 429)).to.equal(true);
    expect(new Set(replies.map(({ headers }) => headers.get("X-RateLimit-Limit")))).to.deep.equal(new Set(["2"]));
    await until(async () => (await ask()).status === 200);
    const checks = { mongodb: "ok", started: "ok", redis: "failed", nats: "ok" };
    expect(await checksOf(api)).to.deep.equal({ status: 200, checks });
    await servers.redis.start();
    await until(async () => (await ask()).headers.get("X-RateLimit-Degraded") === null);
    await until(async () => (await ask()).headers.get("X-RateLimit-Limit") === "8");
  });

  it("accepts while JetStream is away, at once, starts without it, and leaves the message due", async () => {
    await servers.nats.kill();
    const accepted = async () => expect((await send()).status).to.equal(202);
    expect(await leastMs(accepted)).to.be.below(2_000); // which is what JetStream is given to answer
    const { body } = await send();
    const row = await mongo.db.collection("messages").findOne({ _id: body.id as never });
    expect(row?.["outbox"]).to.have.length(1);
    expect(row?.["due_at"]).to.be.an.instanceOf(Date);
    const late = await startApi(addresses(), { name: "faults" });
    const sent = {
      token: tenant.token,
      body: { app_id: tenant.app._id, target: { all: true }, contents: { en: "x" } },
    };
    expect((await late.call("POST", "/v1/notifications", sent)).status, "started without JetStream").to.equal(202);
    api.process.pause(); // so that it is the late one that is hung up on
    await hangUpOnce(Number(new URL(servers.nats.url).port));
    api.process.resume();
    await servers.nats.start();
    await until(async () => (await hasNats(api)) && (await hasNats(late))); // an attempt to connect may take 3 s
    await late.process.kill();
  });

  for (const how of ["kill", "pause"] as const) {
    it(`answers 503 with Retry-After while MongoDB is away (${how}), and goes on when it is back`, async () => {
      const { status } = await send();
      expect(status).to.equal(202);
      await servers.mongodb[how]();
      try {
        const reply = await send();
        expect([reply.status, reply.body.error.code]).to.deep.equal([503, "HS_UNAVAILABLE"]);
        expect(reply.headers.get("Retry-After")).to.match(/^\d+$/);
        expect(reply.headers.get("X-RateLimit-Limit")).to.equal("1000");
        const ready = await checksOf(api);
        expect([ready.status, ready.checks["mongodb"] === "ok"]).to.deep.equal([503, false]);
        expect((await api.call("GET", "/healthz")).status).to.equal(200);
        await until(async () => (await statusOf(api)) === "major_outage");
        expect(await leastMs(() => statusOf(api)), "while MongoDB is away").to.be.below(1_000); // MongoDB is given 3 s
      } finally {
        if (how === "kill") await servers.mongodb.start();
        else servers.mongodb.resume();
      }
      await until(async () => (await send()).status === 202);
    });
  }

  it("answers 504 when a request takes longer than it may", async () => {
    const hasty = await startApi(addresses(), { name: "faults" }, { HERALD_REQUEST_TIMEOUT_SECONDS: "1" });
    const path = `/v1/notifications?app_id=${tenant.app._id}`;
    try {
      await until(async () => (await hasty.call("GET", path, { token: tenant.token })).status === 200); // the first are slow
      servers.mongodb.pause();
      const reply = await hasty.call("GET", path, { token: tenant.token });
      expect([reply.status, reply.body.error.code]).to.deep.equal([504, "HS_TIMEOUT"]);
    } finally {
      servers.mongodb.resume();
      await hasty.process.kill();
    }
  });

  it("takes requests while it drains, each reply closing its connection, and then ends", async () => {
    const other = await startApi(addresses(), { name: "faults" }, { HERALD_DRAIN_SECONDS: "2" });
    const begin = performance.now();
    const stopped = other.process.stop();
    await until(async () => (await fetch(`${other.url}/healthz`)).headers.get("Connection") === "close");
    const reply = await other.call("GET", `/v1/notifications?app_id=${tenant.app._id}`, { token: tenant.token });
    expect(reply.status).to.equal(200);
    await stopped;
    expect(performance.now() - begin).to.be.at.least(2_000);
    expect(await refuses(other.url)).to.equal(true);
  });

  it("finishes what is in hand on SIGTERM, closes its connections and ends", async () => {
    servers.mongodb.pause();
    const slow = list();
    const idle = request(`${api.url}/healthz`, { headers: { Connection: "keep-alive" } }).end();
    await once(idle, "response");
    await until(async () =>
      /requests_in_flight\{[^}]*\} 1\b/.test(await (await fetch(`${api.healthUrl}/metrics`)).text()),
    );
    const stopped = api.process.stop();
    await until(async () => refuses(api.url));
    servers.mongodb.resume();
    const reply = await slow;
    expect([reply.status, reply.headers.get("Connection")]).to.deep.equal([200, "close"]);
    await stopped;
    await until(() => !existsSync(`/proc/${api.process.pid}`));
  });
});

const statusOf = async (api: Api): Promise<string> => (await api.call("GET", "/status.json")).body.status;

/** How long the fastest of ten answers takes. */
const hasNats = async (api: Api): Promise<boolean> => (await checksOf(api)).checks["nats"] === "ok";

/** Is a NATS server that goes away as soon as a client has connected and subscribed. */
const hangUpOnce = async (port: number): Promise<void> => {
  const { promise: subscribed, resolve } = Promise.withResolvers<void>();
  const greeting = { server_id: "x", version: "2.15.0", proto: 1, headers: true, max_payload: 1_048_576 };
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.write(`INFO ${JSON.stringify(greeting)}\r\n`);
    socket.on("data", (bytes) => {
      const text = bytes.toString();
      if (!text.includes("SUB ")) return void (text.includes("PING") && socket.write("PONG\r\n"));
      socket.destroy();
      resolve();
    });
  }).listen(port, "127.0.0.1");
  await subscribed;
  server.close();
  await once(server, "close");
};

const refuses = async (url: string): Promise<boolean> => {
  try {
    await fetch(`${url}/healthz`, { headers: { Connection: "close" } });
    return false;
  } catch {
    return true;
  }
};
