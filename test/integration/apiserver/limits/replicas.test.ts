import { expect } from "chai";
import { connectRedis } from "#core/storage/redis/connect.ts";
import { type Api, type Installation, installation, type Reply } from "../../../support/api/api.ts";
import { aSubscription, seed, seedTenant } from "../../../support/rows/fixtures.ts";
import { until } from "../../../support/until.ts";

describe("two replicas", () => {
  let site: Installation;
  let replicas: [Api, Api];

  before(async () => {
    site = await installation();
    replicas = [site.api, await site.start()];
  });
  after(() => site.close());

  const send = (n: number, tenant: Awaited<ReturnType<typeof seedTenant>>, body: object) =>
    (n % 2 === 0 ? replicas[0] : replicas[1]).call("POST", "/v1/notifications", {
      token: tenant.token,
      body: { app_id: tenant.app._id, contents: { en: "x" }, target: { all: true }, ...body },
    });

  it("make one message of 50 parallel calls with one key", async () => {
    const tenant = await seedTenant(site.db);
    const replies = await Promise.all(
      Array.from({ length: 50 }, (_, n) => send(n, tenant, { idempotency_key: "one" })),
    );
    expect(new Set(replies.map(({ status }) => status))).to.deep.equal(new Set([202]));
    expect(new Set(replies.map(({ body }) => body.id)).size).to.equal(1);
    expect(replies.filter(({ headers }) => headers.get("Idempotent-Replayed") === null)).to.have.length(1);
    expect(await site.db.collection("messages").countDocuments({ app_id: tenant.app._id })).to.equal(1);
  });

  it("promise no more of a month than there is, and give back what a lost race reserved", async () => {
    const tenant = await seedTenant(site.db, { plan: { _id: "ten", messages_per_month: 10 } });
    const row = aSubscription({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
    await seed(site.db, { subscriptions: [row] });
    const target = { include_subscription_ids: [row._id] };
    const raced = await Promise.all(
      Array.from({ length: 8 }, (_, n) => send(n, tenant, { target, idempotency_key: "k" })),
    );
    expect(raced.every(({ status }) => status === 202)).to.equal(true);
    const rest = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n, tenant, { target })));
    expect(rest.filter(({ status }) => status === 202)).to.have.length(9);
    expect(rest.filter(({ status }) => status === 429)).to.have.length(11);
    const used = await site.db.collection("usage").findOne({ tenant_id: tenant.tenant._id });
    expect(used?.["messages"]).to.equal(10);
  });

  it("share one bucket of a key, whose 429 costs nothing and says when to come again", async () => {
    const tenant = await seedTenant(site.db, { plan: { _id: "slow", api_rps: 5 } });
    const list = (n: number) =>
      replicas[n % 2 === 0 ? 0 : 1].call("GET", `/v1/notifications?app_id=${tenant.app._id}`, { token: tenant.token });
    const began = performance.now();
    const replies = await Promise.all(Array.from({ length: 30 }, (_, n) => list(n)));
    const seconds = (performance.now() - began) / 1000;
    const passed = replies.filter(({ status }) => status === 200);
    expect(passed.length).to.be.within(5, 5 + Math.ceil(seconds * 5));
    const limited = replies.find(({ status }) => status === 429);
    expect(limited?.body.error).to.deep.include({ code: "HS_RATE_LIMITED", details: { retry_after_seconds: 1 } });
    expect(limited?.headers.get("Retry-After")).to.equal("1");
    expect(limited?.headers.get("X-RateLimit-Remaining")).to.equal("0");
    expect(limited?.headers.get("X-RateLimit-Reset")).to.equal("1");
    expect(new Set(replies.map(({ headers }) => headers.get("X-RateLimit-Limit")))).to.deep.equal(new Set(["5"]));
  });

  /** Checks a 429 by what it says of itself: how long to wait, and of which bucket that is. */
  const expectLimited = ({ status, headers, body }: Reply, of: { limit: number; seconds: number; bucket: number }) => {
    const { retry_after_seconds: retryAfter, ...details } = body.error.details;
    const said = { limit: of.limit, window_seconds: of.seconds };
    expect([status, body.error.code, details]).to.deep.equal([429, "HS_RATE_LIMITED", said]);
    const named = ["Retry-After", "X-RateLimit-Reset", "X-RateLimit-Remaining", "X-RateLimit-Limit"];
    const values = named.map((name) => headers.get(name));
    expect(values).to.deep.equal([String(retryAfter), String(retryAfter), "0", String(of.bucket)]);
    expect(headers.get("RateLimit-Policy")).to.match(new RegExp(`^"[a-z_.]+";q=${of.bucket};w=\\d+$`));
    expect(headers.get("RateLimit")).to.match(new RegExp(`^"[a-z_.]+";r=0;t=${String(retryAfter)}$`));
  };

  it("limit the messages of an app over all its keys, and say so in the headers too", async () => {
    const tenant = await seedTenant(site.db, { plan: { _id: "wide", api_rps: 5_000 } });
    const redis = connectRedis({ url: site.servers.redisUrl });
    await until(() => redis.status === "ready");
    const aheadUs = (Date.now() + 3_600_000) * 1_000; // nothing flows in until then
    await redis.hset(`limit:notifications.create:${tenant.app._id}`, { tokens: 0, at: aheadUs });
    redis.disconnect();
    expectLimited(await send(0, tenant, {}), { limit: 5_000, seconds: 1, bucket: 5_000 });
    await until(async () => (await send(1, tenant, {})).status === 202);
  });

  it("limit the changes of one subscription, and leave those of others alone", async () => {
    const tenant = await seedTenant(site.db);
    const of = { tenant_id: tenant.tenant._id, app_id: tenant.app._id };
    const [one, other] = [aSubscription(of), aSubscription(of)];
    await seed(site.db, { subscriptions: [one, other] });
    const patch = (n: number, id: string) =>
      replicas[n % 2 === 0 ? 0 : 1].call("PATCH", `/v1/apps/${tenant.app._id}/subscriptions/${id}`, {
        token: tenant.token,
        body: { test_device: n % 3 === 0 },
      });
    const began = performance.now();
    const replies = await Promise.all(Array.from({ length: 30 }, (_, n) => patch(n, one._id)));
    const filled = Math.ceil((performance.now() - began) / 1000);
    const limited = replies.filter(({ status }) => status === 429);
    expect(limited.length).to.be.within(20 - filled, 20);
    for (const reply of limited) expectLimited(reply, { limit: 1, seconds: 1, bucket: 10 });
    expect((await patch(0, other._id)).status).to.equal(200);
  });

  it("limit the registering of one token, whoever registers it", async () => {
    const tenant = await seedTenant(site.db);
    const users = `/v1/apps/${tenant.app._id}/users`;
    for (const id of ["a", "b"]) await site.api.call("POST", users, { token: tenant.token, body: { external_id: id } });
    const register = (n: number, token: string) =>
      site.api.call("POST", `${users}/by/external_id/${n % 2 === 0 ? "a" : "b"}/subscriptions`, {
        token: tenant.token,
        body: { channel: "email", token },
      });
    const began = performance.now();
    const replies = await Promise.all(Array.from({ length: 20 }, (_, n) => register(n, "one@example.com")));
    const filled = Math.ceil((performance.now() - began) / 1000);
    expect(replies.filter(({ status }) => status === 429).length).to.be.within(10 - filled, 10);
    expect((await register(0, "two@example.com")).status).to.equal(201);
  });

  it("limit each source address at the edge, before looking at keys", async () => {
    const env = { HERALD_EDGE_RATE_PER_SECOND: "1", HERALD_EDGE_BURST: "3", HERALD_TRUSTED_PROXIES: "1" };
    const [edge, second] = await Promise.all([site.start(env), site.start(env)]);
    let asked = 0;
    const from = (address: string) => {
      const headers = { "X-Forwarded-For": `6.6.6.6, ${address}` };
      return (asked++ % 2 === 0 ? edge : second).call("GET", "/v1/notifications", { headers });
    };
    const remaining = ({ headers }: Reply) => headers.get("X-RateLimit-Remaining");
    const began = performance.now();
    expect(remaining(await from("10.0.0.1"))).to.equal("2");
    const replies = await Promise.all(Array.from({ length: 19 }, () => from("10.0.0.1")));
    const filled = Math.ceil((performance.now() - began) / 1000);
    const [passed, limited] = [401, 429].map((wanted) => replies.filter(({ status }) => status === wanted)) as [
      Reply[],
      Reply[],
    ];
    expect(passed.length).to.be.within(2, 2 + filled);
    expect(passed.length + limited.length).to.equal(replies.length);
    expect(passed.map(remaining)).to.include.members(["1", "0"]);
    expect(new Set(limited.map(remaining))).to.deep.equal(new Set(["0"]));
    expect(limited[0]?.headers.get("X-RateLimit-Limit")).to.equal("3");
    expect(limited[0]?.headers.get("RateLimit-Policy")).to.equal('"edge";q=3;w=3');
    expect(limited[0]?.headers.get("RateLimit")).to.equal('"edge";r=0;t=1');
    expect((await from("10.0.0.2")).status).to.equal(401);
    for (const path of ["/V1/notifications", "/%761/notifications", "//v1/notifications", "/v1/Notifications"]) {
      const spelled = await edge.call("GET", path, { headers: { "X-Forwarded-For": "10.0.0.3" } });
      expect(spelled.status, path).to.equal(404); // no other spelling of a path is routed, past the limit
    }
    const network = (n: number) => from(`2001:db8:1:2::${n}`);
    const addresses = await Promise.all(Array.from({ length: 20 }, (_, n) => network(n + 1)));
    expect(addresses.some(({ status }) => status === 429)).to.equal(true);
    expect((await from("2001:db8:1:3::1")).status).to.equal(401);
    const outside = (path: string) => fetch(edge.url + path, { headers: { "X-Forwarded-For": "10.0.0.1" } });
    expect((await outside("/healthz")).status).to.equal(200);
    const links = await Promise.all(Array.from({ length: 60 }, () => outside("/l/none")));
    expect(links.filter(({ status }) => status === 404).length).to.be.within(1, 45);
    expect(links.find(({ status }) => status === 429)?.headers.get("RateLimit-Policy")).to.equal('"outside";q=15;w=3');
    expect((await outside("/ingress/twilio/none")).status).to.equal(404); // callbacks have limits of their own
  });
});
