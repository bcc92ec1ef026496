import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { shareOf } from "#core/domain/webhooks/shares.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { webhookHistory } from "#core/storage/webhooks/history.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { replayDelivery } from "../../../../apiserver/webhooks/deliveries/replay.ts";
import type { Reply } from "../../../support/api/api.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { anApp, seed } from "../../../support/rows/fixtures.ts";
import { anEnvelope, aWebhookDelivery } from "../../../support/rows/webhook-deliveries.ts";
import { until } from "../../../support/until.ts";

const hourMs = 3_600_000;

describe("deliveries of a webhook that are sent again", () => {
  const { site, tenant } = useSharedSite();
  let nats: Nats;
  let base: string;
  let id: string;
  const announced: string[] = [];

  before(async () => {
    base = `/v1/apps/${tenant.app._id}/webhooks`;
    id = await endpoint();
    nats = await connectNats({ url: site.servers.natsUrl, name: "tests" });
    nats.nc.subscribe(`${site.name}.config.webhooks.*`, { callback: (_, { subject }) => void announced.push(subject) });
    await nats.nc.flush();
  });
  after(async () => {
    await nats.close();
  });

  const call = (method: string, path: string, body?: object) =>
    site.api.call(method, base + path, { token: tenant.token, ...(body !== undefined && { body }) });
  const rows = () => site.db.collection<WebhookDeliveryRow>("webhook_deliveries");
  const endpoints = () => site.db.collection<WebhookRow>("webhooks");
  const endpoint = async (): Promise<string> =>
    (await call("POST", "", { url: "https://hooks.example.com/in", events: ["delivery.sent"] })).body.id;

  /** One that is stored; what waits is due in an hour. */
  const delivery = async (
    status: WebhookDeliveryRow["status"],
    over: Partial<WebhookDeliveryRow> = {},
  ): Promise<WebhookDeliveryRow> => {
    const isWaiting = status === "pending" || status === "failed";
    const row = aWebhookDelivery(anEnvelope({ id: `evt_${randomUUID()}`, app_id: over.app_id ?? tenant.app._id }), {
      tenant_id: tenant.tenant._id,
      endpoint_id: id,
      status,
      ...(status === "pending" && { attempt: 0, attempts: [] }),
      due_at: isWaiting ? new Date(Date.now() + hourMs) : null,
      ...over,
    });
    await rows().insertOne(row);
    return row;
  };

  it("are sent again as new ones of the same event", async () => {
    announced.length = 0;
    for (const status of ["success", "failed", "dead"] as const) {
      const row = await delivery(status);
      const reply = await call("POST", `/deliveries/${row._id}/replay`);
      const { body } = reply;
      expect([reply.status, body.id === row._id]).to.deep.equal([200, false]);
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
    await until(async () => announced.includes(`${site.name}.config.webhooks.${id}`));
  });

  const refusal = async (path: string, body?: object) => {
    const reply = await call("POST", path, body);
    return [reply.status, reply.body.error.code, reply.body.error.details["status"]];
  };

  it("are not sent again while they are still to be sent, or the endpoint is disabled", async () => {
    const waiting = await delivery("pending");
    expect(await refusal(`/deliveries/${waiting._id}/replay`)).to.deep.equal([409, "HS_CONFLICT", "pending"]);
    const of = await endpoint();
    await call("PATCH", `/${of}`, { status: "disabled" });
    const row = await delivery("dead", { endpoint_id: of });
    expect(await refusal(`/deliveries/${row._id}/replay`)).to.deep.equal([409, "HS_CONFLICT", "disabled"]);
  });

  it("are not sent again while their next request is due: it may be under way", async () => {
    const due = await delivery("failed", { due_at: new Date() });
    expect(await refusal(`/deliveries/${due._id}/replay`)).to.deep.equal([409, "HS_CONFLICT", "failed"]);
    expect(await rows().countDocuments({ replay_of: due._id })).to.equal(0);
  });

  it("are looked for even if the apiserver is killed once they are stored", async () => {
    const of = (await endpoints().findOne({ _id: await endpoint() })) ?? expect.fail();
    const kept = webhookHistory(site.db);
    const replay = replayDelivery({
      history: {
        ...kept,
        insert: async (row) => {
          await kept.insert(row);
          throw new Error("killed");
        },
      },
      announce: () => expect.fail("it was killed before"),
      limit: async () => {},
      clock: { now: () => new Date() },
    });
    const row = await delivery("dead", { endpoint_id: of._id });
    expect(await replay({ delivery: row, endpoint: of }, newId("webhookDelivery", new Date())).catch(String)).to.equal(
      "Error: killed",
    );
    const made = (await rows().findOne({ replay_of: row._id })) ?? expect.fail();
    const { nextWaiting } = webhookDeliveries(site.db);
    const before = `${of._id.slice(0, -1)}${String.fromCharCode(of._id.charCodeAt(of._id.length - 1) - 1)}`;
    const found = { endpointId: of._id, dueAt: made.due_at };
    expect(await nextWaiting(shareOf(of._id), before), "as its owner looks").to.deep.equal(found);
  });

  it("are sent again sixty times a minute at most, by app", async function () {
    const app = anApp({ tenant_id: tenant.tenant._id });
    await seed(site.db, { apps: [app] });
    const path = `/v1/apps/${app._id}/webhooks`;
    const { body } = await site.api.call("POST", path, {
      token: tenant.token,
      body: { url: "https://hooks.example.com/in", events: ["delivery.sent"] },
    });
    const row = await delivery("dead", { app_id: app._id, endpoint_id: body.id });
    const waiting = await delivery("pending", { app_id: app._id, endpoint_id: body.id });
    const replay = ({ _id: id } = row) =>
      site.api.call("POST", `${path}/deliveries/${id}/replay`, { token: tenant.token });
    for (let n = 0; n < 61; n++) expect((await replay(waiting)).status, "counts for nothing").to.equal(409);
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
        expect(stored?.due_at).to.be.an.instanceOf(Date);
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
      ["an instant that no clock shows", { since: "2026-11-20T23:59:60Z" }, "since"],
      ["an end whose offset has no minutes", { since: ago(1_000), until: "2026-11-20T10:00:00+05" }, "until"],
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
