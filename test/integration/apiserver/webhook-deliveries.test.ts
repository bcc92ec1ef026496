import { expect } from "chai";
import { connectNats, type Nats } from "#core/queue/connect.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhook-deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks.ts";
import { type Installation, installation, type Reply } from "../../support/api.ts";
import { anAttempt, anEnvelope, aWebhookDelivery } from "../../support/deliveries.ts";
import { anApp, seed, seedTenant } from "../../support/fixtures.ts";
import { until } from "../../support/until.ts";

const kinds = ["delivery.sent", "delivery.failed", "user.created"] as const;
const statuses = ["pending", "success", "failed", "dead"] as const;
const startedAt = Date.now() - 3_600_000;

describe("deliveries of a webhook", () => {
  let site: Installation;
  let nats: Nats;
  let tenant: Awaited<ReturnType<typeof seedTenant>>;
  let base: string;
  let id: string;
  let seeded: WebhookDeliveryRow[];
  const rung: string[] = [];

  before(async function () {
    this.timeout(60_000);
    site = await installation();
    tenant = await seedTenant(site.db);
    base = `/v1/apps/${tenant.app._id}/webhooks`;
    id = await endpoint();
    seeded = Array.from({ length: 48 }, (_, n) => delivery(n)).sort((a, b) => (a._id < b._id ? 1 : -1));
    await rows().insertMany(seeded);
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    nats.nc.subscribe(`${site.name}.webhooks.*`, { callback: (_, { subject }) => void rung.push(subject) });
    await nats.nc.flush();
  });
  after(async () => {
    await nats.close();
    await site.close();
  });

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, base + path, { token: tenant.token, ...(body !== undefined && { body }) });
  const rows = () => site.db.collection<WebhookDeliveryRow>("webhook_deliveries");
  const endpoints = () => site.db.collection<WebhookRow>("webhooks");
  const endpoint = async (): Promise<string> =>
    (await call("POST", "", { url: "https://hooks.example.com/in", events: ["delivery.sent"] })).body.id;

  /** Every status of every kind; each second the next. */
  const delivery = (n: number, over: Partial<WebhookDeliveryRow> = {}): WebhookDeliveryRow => {
    const status = statuses[n % 4] ?? "dead";
    const event = anEnvelope({
      id: `evt_${n}`,
      type: kinds[Math.floor(n / 4) % 3] ?? "delivery.sent",
      timestamp: new Date(startedAt + n * 1_000).toISOString(),
      app_id: tenant.app._id,
    });
    const isWaiting = status === "pending" || status === "failed";
    return aWebhookDelivery(event, {
      tenant_id: tenant.tenant._id,
      endpoint_id: id,
      status,
      ...(status === "pending" && { attempt: 0, attempts: [] }),
      due_at: isWaiting ? new Date(startedAt + 7_200_000) : null,
      ...over,
    });
  };
  const list = async (query: string, of = id) => (await call("GET", `/${of}/deliveries?${query}`)).body;
  const idsOf = (all: readonly { _id: string }[]) => all.map(({ _id }) => _id);

  for (const [name, query, fits] of [
    ["all", "", () => true],
    ["a status", "status=failed&", (row) => row.status === "failed"],
    ["a kind", "event_type=user.created&", (row) => row.event_type === "user.created"],
    [
      "a kind and a status",
      "event_type=delivery.sent&status=dead&",
      (row) => row.event_type === "delivery.sent" && row.status === "dead",
    ],
    ["a kind that never came", "event_type=journey.exited&", () => false],
    ["no kind at all", "event_type=nonsense&", () => false],
  ] as [string, string, (row: WebhookDeliveryRow) => boolean][]) {
    it(`are listed page by page, the newest first: ${name}`, async () => {
      const seen: string[] = [];
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page = await list(`${query}limit=7${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
        seen.push(...page.data.map((one) => one.id));
        expect(page.has_more).to.equal(page.next_cursor !== null);
        cursor = page.next_cursor;
      }
      expect(seen).to.deep.equal(idsOf(seeded.filter(fits)));
    });
  }

  it("are listed without what they say, with how the last request went", async () => {
    const attempts = [anAttempt(), anAttempt({ duration_ms: 34, response_body_excerpt: "sorry" })];
    const row = delivery(1_000, { attempt: 2, attempts, status: "failed", due_at: new Date(startedAt + 9_000_000) });
    const of = await endpoint();
    await rows().insertOne({ ...row, endpoint_id: of });
    const { data } = await list("", of);
    expect(data).to.deep.equal([
      {
        id: row._id,
        endpoint_id: of,
        event_type: row.event_type,
        event_id: row.event_id,
        subject_id: null,
        attempt: 2,
        status: "failed",
        response_status: 500,
        response_body_excerpt: "sorry",
        error: "answered 500",
        error_class: "server_error",
        duration_ms: 34,
        next_retry_at: new Date(startedAt + 9_000_000).toISOString(),
        delivered_at: null,
        replay_of: null,
        created_at: row.created_at.toISOString(),
      },
    ]);
  });

  for (const [name, query, path] of [
    ["another filter", "status=dead&", () => ""],
    ["a further filter", "status=success&event_type=user.created&", () => ""],
    ["another endpoint", "status=success&", () => endpoint()],
  ] as [string, string, () => string | Promise<string>][]) {
    it(`refuses the cursor of ${name}`, async () => {
      const { next_cursor: cursor } = await list("status=success&limit=2");
      const of = (await path()) || id;
      const reply = await call("GET", `/${of}/deliveries?${query}cursor=${encodeURIComponent(cursor ?? "")}`);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, "cursor"]);
    });
  }

  for (const [query, field] of [
    ["limit=0", "limit"],
    ["limit=201", "limit"],
    ["status=sent", "status"],
    [`event_type=${"x".repeat(65)}`, "event_type"],
    ["cursor=abc", "cursor"],
  ] as const) {
    it(`refuses ${query.slice(0, 20)}`, async () => {
      const reply = await call("GET", `/${id}/deliveries?${query}`);
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, field]);
    });
  }

  const one = (status: string) => seeded.find((row) => row.status === status) as WebhookDeliveryRow;

  it("are shown with what they say, and each of their requests", async () => {
    const row = one("dead");
    const { body } = await call("GET", `/deliveries/${row._id}`);
    expect(body).to.deep.include({ id: row._id, payload: JSON.parse(row.payload) as object, status: "dead" });
    const attempts = await call("GET", `/deliveries/${row._id}/attempts`);
    const { at, ...attempt } = anAttempt();
    expect(attempts.body.data).to.deep.equal([{ ...attempt, at: at.toISOString() }]);
    expect((await call("GET", `/deliveries/${one("pending")._id}/attempts`)).body.data).to.deep.equal([]);
  });

  it("are gone with their endpoint, and when there are none", async () => {
    const of = await endpoint();
    const row = { ...delivery(2_000), endpoint_id: of };
    await rows().insertOne(row);
    expect((await call("GET", `/deliveries/${row._id}`)).status).to.equal(200);
    await call("DELETE", `/${of}`);
    for (const path of [`/deliveries/${row._id}`, `/deliveries/${row._id}/attempts`, "/deliveries/whd_none"]) {
      expect((await call("GET", path)).status, path).to.equal(404);
    }
    expect((await call("POST", `/deliveries/${row._id}/replay`)).status).to.equal(404);
  });

  it("are sent again as new ones of the same event", async () => {
    rung.length = 0;
    for (const row of [one("success"), one("failed"), one("dead")]) {
      const { status, body } = await call("POST", `/deliveries/${row._id}/replay`);
      expect([status, body.id === row._id]).to.deep.equal([200, false]);
      expect(body).to.deep.include({
        status: "pending",
        attempt: 0,
        replay_of: row._id,
        event_id: row.event_id,
        payload: JSON.parse(row.payload) as object,
        error: null,
        next_retry_at: null,
      });
      const stored = await rows().findOne({ _id: body.id });
      expect(stored?.due_at).to.be.instanceOf(Date);
      expect(await rows().findOne({ _id: row._id })).to.deep.equal(row);
      await rows().deleteOne({ _id: body.id });
    }
    expect((await endpoints().findOne({ _id: id }))?.due_at).to.be.instanceOf(Date);
    await until(async () => rung.includes(`${site.name}.webhooks.${id}`));
  });

  const refusal = async (path: string, body?: object) => {
    const reply = await call("POST", path, body);
    return [reply.status, reply.body.error.code, reply.body.error.details["status"]];
  };

  it("are not sent again while they are still to be sent, or the endpoint is disabled", async () => {
    expect(await refusal(`/deliveries/${one("pending")._id}/replay`)).to.deep.equal([409, "HS_CONFLICT", "pending"]);
    const of = await endpoint();
    await call("PATCH", `/${of}`, { status: "disabled" });
    const row = { ...delivery(3_003), endpoint_id: of };
    await rows().insertOne(row);
    expect(await refusal(`/deliveries/${row._id}/replay`)).to.deep.equal([409, "HS_CONFLICT", "disabled"]);
  });

  it("are sent again sixty times a minute at most, by app", async function () {
    this.timeout(20_000);
    const app = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [app] });
    const path = `/v1/apps/${app._id}/webhooks`;
    const { body } = await site.api.call("POST", path, {
      token: tenant.token,
      body: { url: "https://hooks.example.com/in", events: ["delivery.sent"] },
    });
    const [row, waiting] = [4_003, 4_000].map((n) => delivery(n, { app_id: app._id, endpoint_id: body.id }));
    await rows().insertMany([row ?? expect.fail(), waiting ?? expect.fail()]);
    const replay = (id = row?._id) => site.api.call("POST", `${path}/deliveries/${id}/replay`, { token: tenant.token });
    for (let n = 0; n < 61; n++) expect((await replay(waiting?._id)).status, "counts for nothing").to.equal(409);
    const began = Date.now();
    const replies: Reply[] = [];
    while (replies.length < 200 && !replies.some(({ status }) => status === 429))
      replies.push(...(await Promise.all(Array.from({ length: 10 }, () => replay())))); // more at once would keep Redis waiting
    const seconds = Math.ceil((Date.now() - began) / 1_000);
    expect(replies.filter(({ status }) => status === 200).length).to.be.within(60, 60 + seconds);
    const limited = replies.find(({ status }) => status === 429);
    expect(limited?.body.error.details).to.deep.include({ limit: 60, window_seconds: 60 });
    expect(limited?.headers.get("Retry-After")).to.equal("1");
  });

  describe("of a window", () => {
    const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
    const day = 86_400_000;

    for (const [path, kind, filter] of [
      ["recover", "recover", {}],
      ["replay", "replay", {}],
      ["replay", "replay", { status: "success", event_type: "user.created" }],
    ] as const) {
      it(`are asked for by ${path} ${JSON.stringify(filter)}: 202 with a recovery, which the endpoint shows`, async () => {
        const of = await endpoint();
        const [since, until] = [ago(7_200_000), ago(60_000)];
        const { status, body } = await call("POST", `/${of}/${path}`, { since, until, ...filter });
        expect(status).to.equal(202);
        expect(body).to.deep.include({ status: "running", since, until, replayed: 0, completed_at: null });
        expect(body.id).to.match(/^rec_/);
        expect((await call("GET", `/${of}`)).body["recovery"]).to.deep.equal(body);
        const stored = await endpoints().findOne({ _id: of });
        const expected = { kind, after: null, status: null, event_type: null, ...filter };
        expect(stored?.recovery).to.deep.include(expected);
        expect([stored?.wakes, stored?.due_at instanceof Date]).to.deep.equal([1, true]);
      });
    }

    it("end now when nothing is said, and never later", async () => {
      for (const body of [{ since: ago(1_000) }, { since: ago(1_000), until: ago(-day) }]) {
        const began = Date.now();
        const reply = await call("POST", `/${await endpoint()}/recover`, body);
        expect(Date.parse(String(reply.body["until"]))).to.be.within(began, Date.now());
      }
    });

    it("are one recovery at a time", async () => {
      const of = await endpoint();
      await call("POST", `/${of}/recover`, { since: ago(1_000) });
      for (const path of ["recover", "replay"]) {
        expect(await refusal(`/${of}/${path}`, { since: ago(1_000) })).to.deep.equal([409, "HS_CONFLICT", "running"]);
      }
      await endpoints().updateOne({ _id: of }, { $set: { "recovery.completed_at": new Date() } });
      expect((await call("POST", `/${of}/recover`, { since: ago(1_000) })).status).to.equal(202);
    });

    it("are not sent to an endpoint that is disabled", async () => {
      const of = await endpoint();
      await call("PATCH", `/${of}`, { status: "disabled" });
      expect(await refusal(`/${of}/recover`, { since: ago(1_000) })).to.deep.equal([409, "HS_CONFLICT", "disabled"]);
    });

    for (const [name, body, field] of [
      ["no beginning", {}, "since"],
      ["a beginning before what is kept", { since: ago(31 * day) }, "since"],
      ["a beginning ahead", { since: ago(-day) }, "since"],
      ["an end before the beginning", { since: ago(1_000), until: ago(2_000) }, "until"],
      ["no instant", { since: "yesterday" }, "since"],
    ] as const) {
      it(`are refused with ${name}`, async () => {
        for (const path of ["recover", "replay"]) {
          const reply = await call("POST", `/${id}/${path}`, body);
          expect([reply.status, reply.body.error.details["field"]], path).to.deep.equal([400, field]);
        }
      });
    }

    it("are refused by replay for those that are still to be sent", async () => {
      const reply = await call("POST", `/${id}/replay`, { since: ago(1_000), status: "pending" });
      expect([reply.status, reply.body.error.details["field"]]).to.deep.equal([400, "status"]);
    });
  });
});
