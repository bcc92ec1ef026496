import { expect } from "chai";
import { Webhook as StandardWebhook } from "standardwebhooks";
import type { ReplyRow } from "#core/storage/service/replies.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { healthOf, type WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import {
  type ReceivedWebhook,
  type Receiver,
  type ReceiverAnswer,
  startReceiver,
} from "../../../../dev/simulators/receiver.ts";
import { type ReplyBody } from "../../../support/api/api.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { type Sending, startSending } from "../../../support/system/sending.ts";
import type { SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";
import { loopbackAllowed } from "../../../support/webhooks/traffic.ts";

describe("operations of webhooks, with a dispatcher", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let receiver: Receiver;
  const answers: Record<string, () => ReceiverAnswer> = {};
  let n = 0;

  before(async () => {
    sending = await startSending(await testServers());
    receiver = await startReceiver({ port: 0, answer: ({ path }) => answers[path]?.() ?? { status: 200 } });
    const { system } = sending;
    [api, dispatcher] = await Promise.all([
      system.start("apiserver", loopbackAllowed),
      system.start("dispatcher", loopbackAllowed),
    ]);
  });
  after(async () => {
    await sending?.close();
    await receiver?.stop();
  });

  const ask = async (
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<{ status: number; body: ReplyBody }> => {
    const reply = await fetch(`${api.url}/v1/apps/${sending.system.app._id}${path}`, {
      method,
      headers: { authorization: `Bearer ${sending.system.token}`, "content-type": "application/json", ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as ReplyBody };
  };
  const deliveries = () => sending.system.db.collection<WebhookDeliveryRow>("webhook_deliveries");
  const endpoints = () => sending.system.db.collection<WebhookRow>("webhooks");

  type Endpoint = { id: string; secret: string; path: string; name: string };
  /** Wants the custom events of a name of its own. */
  const endpoint = async (over: object = {}): Promise<Endpoint> => {
    const name = `event-${++n}`;
    const path = `/${name}`;
    const { status, body } = await ask("POST", "/webhooks", {
      url: receiver.url + path,
      events: ["event.received"],
      event_filters: { event_names: [name] },
      ...over,
    });
    expect(status, JSON.stringify(body)).to.equal(201);
    return { id: body.id, secret: String(body["secret"]), path, name };
  };
  const emit = async (name: string, count = 1): Promise<void> => {
    const events = Array.from({ length: count }, (_, i) => ({ name, external_id: "ann", properties: { i } }));
    expect((await ask("POST", "/events", { events })).status).to.equal(202);
  };
  const arrived = (path: string): ReceivedWebhook[] => receiver.received().filter((one) => one.path === path);
  const come = (path: string, count: number) => until(() => arrived(path).length >= count);
  const stored = (id: string, status: string, count: number) =>
    until(
      async () => (await ask("GET", `/webhooks/${id}/deliveries?status=${status}`)).body.data.length === count,
      15_000,
    );
  const isVerified = ({ body, headers }: ReceivedWebhook, secret: string): boolean => {
    try {
      new StandardWebhook(secret).verify(body, headers);
      return true;
    } catch {
      return false;
    }
  };

  describe("a test", () => {
    it("is sent at once, with the headers of the endpoint, and signed", async () => {
      const { id, secret, path } = await endpoint({ headers: { "X-Key": "s3cret" } });
      const { status, body } = await ask("POST", `/webhooks/${id}/test`);
      expect([status, body.status]).to.deep.equal([200, "success"]);
      expect(body).to.deep.include({ endpoint_id: id, event_type: "webhook.test", attempt: 1, response_status: 200 });
      const [got] = arrived(path) as [ReceivedWebhook];
      expect(got.headers).to.include({ "x-key": "s3cret", "service-event-type": "webhook.test" });
      expect(isVerified(got, secret)).to.equal(true);
      expect(JSON.parse(got.body)).to.deep.equal(body["payload"]);
      expect((await ask("GET", `/webhooks/deliveries/${body.id}`)).body).to.deep.equal(body);
    });

    it("tells of an endpoint that fails, with 200, and leaves its health alone", async () => {
      const { id, path } = await endpoint();
      answers[path] = () => ({ status: 500, body: "no" });
      const health = async () => healthOf((await endpoints().findOne({ _id: id })) ?? expect.fail());
      const before = await health();
      const { status, body } = await ask("POST", `/webhooks/${id}/test`);
      expect(status).to.equal(200);
      expect(body).to.deep.include({
        status: "dead",
        response_status: 500,
        response_body_excerpt: "no",
        error_class: "server_error",
        next_retry_at: null,
      });
      expect(await health()).to.deep.equal(before);
      const { last_hour: hour } = (await ask("GET", `/webhooks/${id}/health`)).body as { last_hour?: object };
      expect(hour).to.include({ requests: 0 });
    });

    it("does not disable an endpoint that says it is gone", async () => {
      const { id, path } = await endpoint();
      answers[path] = () => ({ status: 410 });
      expect((await ask("POST", `/webhooks/${id}/test`)).body["error_class"]).to.equal("gone");
      expect((await ask("GET", `/webhooks/${id}`)).body.status).to.equal("active");
    });

    it("goes to an endpoint that is disabled or paused, too", async () => {
      for (const change of [{ status: "disabled" }, { paused: true }]) {
        const { id } = await endpoint();
        await ask("PATCH", `/webhooks/${id}`, change);
        expect((await ask("POST", `/webhooks/${id}/test`)).body.status).to.equal("success");
      }
    });

    it("waits for an endpoint as long as that may take, and no longer", async () => {
      const { id, path } = await endpoint({ timeout_ms: 1_000 });
      answers[path] = () => ({ status: 200, delayMs: 30_000 });
      const began = performance.now();
      const { status, body } = await ask("POST", `/webhooks/${id}/test`);
      expect([status, body["error_class"]]).to.deep.equal([200, "timeout"]);
      expect(performance.now() - began).to.be.within(900, 25_000); // a margin of 2 s is the product's own
    });

    it("is made ten times a minute at most", async () => {
      const { id } = await endpoint();
      const replies = await untilLimited(() => ask("POST", `/webhooks/${id}/test`), tenAMinute);
      expect(new Set(replies.slice(0, -1).map(({ status }) => status))).to.deep.equal(new Set([200]));
    });

    it("is sent once with a key, though the first attempt was cut short", async () => {
      const { id, path } = await endpoint();
      const test = () => ask("POST", `/webhooks/${id}/test`, undefined, { "Idempotency-Key": id });
      const first = await test();
      const row = await deliveries().findOne({ endpoint_id: id });
      const replies = sending.system.db.collection<ReplyRow>("idempotent_replies");
      const cut = async (change: Partial<WebhookDeliveryRow>) => {
        await deliveries().updateOne({ endpoint_id: id }, { $set: change });
        await replies.updateMany({}, { $set: { reply: null, held_until: new Date(0) } });
        return test();
      };
      expect((await cut({})).body).to.deep.equal(first.body);
      const begun: Partial<WebhookDeliveryRow> = { status: "dead", attempt: 0, attempts: [] };
      expect((await cut({ ...begun, created_at: new Date() })).body.error.code).to.equal("HS_UNAVAILABLE");
      const { body } = await cut({ ...begun, created_at: new Date(Date.now() - 60_000) });
      expect(body).to.include({ id: row?._id, status: "dead", attempt: 0 });
      expect(arrived(path)).to.have.length(1);
    });

    it("is refused for now while no dispatcher runs", async () => {
      const { id } = await endpoint();
      await dispatcher.stop();
      try {
        const { status, body } = await ask("POST", `/webhooks/${id}/test`);
        expect([status, body.error.code]).to.deep.equal([503, "HS_UNAVAILABLE"]);
      } finally {
        await dispatcher.restart();
      }
    });
  });

  it("signs with both secrets after a rotation, and with the newer two after another", async () => {
    const { id, secret: first, path } = await endpoint();
    const second = String((await ask("POST", `/webhooks/${id}/rotate-secret`)).body["secret"]);
    const third = String((await ask("POST", `/webhooks/${id}/rotate-secret`)).body["secret"]);
    await ask("POST", `/webhooks/${id}/test`);
    const [got] = arrived(path) as [ReceivedWebhook];
    expect([third, second, first].map((secret) => isVerified(got, secret))).to.deep.equal([true, true, false]);
  });

  it("sends to a new endpoint at once, and to a changed one as it is now", async () => {
    const { path, name, id } = await endpoint();
    await emit(name);
    await come(path, 1);
    await ask("PATCH", `/webhooks/${id}`, { body_template: "{{ data.name }}!", body_content_type: "text/plain" });
    await until(async () => {
      await emit(name);
      return arrived(path).at(-1)?.body === `${name}!`;
    }, 15_000); // the first template starts a thread, which may take 10 s
    expect(arrived(path).at(-1)?.headers["content-type"]).to.equal("text/plain; charset=utf-8");
  });

  it("keeps what comes during a pause, and sends it afterwards", async () => {
    const { path, name, id } = await endpoint({ paused: true });
    await emit(name, 5);
    await stored(id, "pending", 5);
    expect(arrived(path)).to.deep.equal([]);
    await ask("PATCH", `/webhooks/${id}`, { paused: false });
    await come(path, 5);
    await stored(id, "success", 5);
  });

  it("sends a delivery again with its event's id", async () => {
    const { path, name, id } = await endpoint();
    await emit(name);
    await stored(id, "success", 1);
    const [{ id: delivery }] = (await ask("GET", `/webhooks/${id}/deliveries`)).body.data as [ReplyBody];
    const { body } = await ask("POST", `/webhooks/deliveries/${delivery}/replay`);
    await come(path, 2);
    const [first, second] = arrived(path) as [ReceivedWebhook, ReceivedWebhook];
    expect(second.headers["service-event-id"]).to.equal(first.headers["service-event-id"]);
    expect(second.headers["service-delivery-id"]).to.equal(body.id);
    expect(second.body).to.equal(first.body);
    await until(async () => (await ask("GET", `/webhooks/deliveries/${body.id}`)).body.status === "success");
  });

  it("recovers, once each, what was missed while the endpoint was disabled", async () => {
    const { path, name, id } = await endpoint();
    await ask("PATCH", `/webhooks/${id}`, { status: "disabled" });
    let emitted = 20;
    await until(async () => {
      await emit(name);
      emitted++;
      return (await ask("GET", `/webhooks/${id}/deliveries?status=dead`)).body.data.length > 0;
    }, 10_000);
    await emit(name, 20);
    const over = { endpoint_id: id, status: { $in: ["success", "dead"] } } as const; // those before it was heard of
    await until(async () => (await deliveries().countDocuments(over)) === emitted);
    await ask("PATCH", `/webhooks/${id}`, { status: "active" });
    const missed = await deliveries().find({ endpoint_id: id, status: "dead" }).toArray();
    const before = arrived(path).length;
    const since = new Date(Date.now() - 60_000).toISOString();
    expect((await ask("POST", `/webhooks/${id}/recover`, { since })).status).to.equal(202);
    const isOver = async () => {
      const recovery = (await ask("GET", `/webhooks/${id}`)).body["recovery"] as { status: string; replayed: number };
      return recovery.status === "completed" && recovery.replayed === missed.length;
    };
    await until(isOver);
    await come(path, before + missed.length);
    await stored(id, "success", Math.min(50, missed.length + before));
    const ids = arrived(path)
      .slice(before)
      .map(({ headers }) => headers["service-event-id"]);
    expect(ids).to.have.members(missed.map(({ event_id }) => event_id));
    const again = await ask("POST", `/webhooks/${id}/recover`, { since });
    expect(again.status).to.equal(202);
    await until(async () => {
      const { recovery } = (await endpoints().findOne({ _id: id })) as WebhookRow;
      return recovery?.completed_at !== null;
    }, 15_000);
    expect((await endpoints().findOne({ _id: id }))?.recovery?.replayed).to.equal(0);
  });

  it("drops what waits for an endpoint that is removed", async () => {
    const { name, id } = await endpoint({ paused: true });
    await emit(name, 3);
    await stored(id, "pending", 3);
    await ask("DELETE", `/webhooks/${id}`);
    await until(async () => (await deliveries().countDocuments({ endpoint_id: id })) === 0);
  });

  it("writes no secret and no header's value to a log", async () => {
    const { secret, id } = await endpoint({ headers: { Authorization: "Bearer t0p-s3cret" } });
    await ask("PATCH", `/webhooks/${id}`, { headers: { Authorization: "Bearer an0ther-s3cret" } });
    const rotated = String((await ask("POST", `/webhooks/${id}/rotate-secret`)).body["secret"]);
    await ask("POST", `/webhooks/${id}/test`);
    const isLogged = async () =>
      (await dispatcher.log()).some((line) => line["event"] === "webhook.tested" && line["endpoint"] === id);
    await until(isLogged);
    const text = JSON.stringify([await api.log(), await dispatcher.log()]);
    for (const word of [secret, rotated, "t0p-s3cret", "an0ther-s3cret"]) expect(text).to.not.include(word);
  });
});
