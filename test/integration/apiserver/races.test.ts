import { expect } from "chai";
import { type Api, type Installation, installation, type Reply } from "../../support/api.ts";
import { aSubscription, seed, seedTenant } from "../../support/fixtures.ts";

describe("two replicas", function () {
  this.timeout(60_000);
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

  it("limit each source address at the edge, before looking at keys", async () => {
    const edge = await site.start({
      HERALD_EDGE_RATE_PER_SECOND: "1",
      HERALD_EDGE_BURST: "3",
      HERALD_TRUSTED_PROXIES: "1",
    });
    const from = (address: string) =>
      edge.call("GET", "/v1/notifications", { headers: { "X-Forwarded-For": `6.6.6.6, ${address}` } });
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
    expect((await from("10.0.0.2")).status).to.equal(401);
    for (const path of ["/V1/notifications", "/%761/notifications", "//v1/notifications", "/v1/Notifications"]) {
      const spelled = await edge.call("GET", path, { headers: { "X-Forwarded-For": "10.0.0.3" } });
      expect(spelled.status, path).to.equal(404); // no other spelling of a path is routed, past the limit
    }
    const network = (n: number) => from(`2001:db8:1:2::${n}`);
    const addresses = await Promise.all(Array.from({ length: 20 }, (_, n) => network(n + 1)));
    expect(addresses.some(({ status }) => status === 429)).to.equal(true);
    expect((await from("2001:db8:1:3::1")).status).to.equal(401);
    expect((await edge.call("GET", "/healthz", { headers: { "X-Forwarded-For": "10.0.0.1" } })).status).to.equal(200);
  });
});
