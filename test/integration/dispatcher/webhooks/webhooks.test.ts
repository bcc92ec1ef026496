import { expect } from "chai";
import { makeEvent } from "#core/domain/events/make.ts";
import { announcer, changes } from "#core/queue/announce.ts";
import { eventPublisher } from "#core/queue/events.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { eventStream, webhookStream } from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import { timers } from "#core/queue/timers.ts";
import { addressGuard } from "#core/runtime/http/address-guard.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { directory } from "#core/storage/directory.ts";
import { webhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { type WebhookRow, webhookWork } from "#core/storage/webhooks/webhooks.ts";
import { type Receiver, type ReceiverAnswer, startReceiver } from "../../../../dev/simulators/receiver.ts";
import { guardedClient } from "../../../../dispatcher/net/guarded/client.ts";
import { webhookParts } from "../../../../dispatcher/webhooks/parts.ts";
import { testKeyRing } from "../../../support/rows/fixtures.ts";
import { aWebhook } from "../../../support/rows/webhooks.ts";
import { suspensionsOf } from "../../../support/rows/work.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { until } from "../../../support/until.ts";

const keys = keyRing(testKeyRing);
const secret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;
const prefix = `wh${process.pid}`;
const names = subjects(prefix);

describe("webhooks", function () {
  this.timeout(60_000);
  const db = testDatabase("webhooks");
  let nats: Nats;
  let receiver: Receiver;
  let answers: Record<string, () => ReceiverAnswer>;
  let running: { parts: Part[]; stopping: AbortController }[] = [];
  let shiftMs = 0;
  let made = 0;
  const clock = { now: () => new Date(Date.now() + shiftMs) };

  before(async () => {
    nats = await connectNats({ url: (await testServers()).natsUrl, name: "webhooks test" });
    for (const spec of [eventStream(prefix), webhookStream(prefix)]) await ensureStream(nats.jsm, spec);
  });
  beforeEach(async () => {
    answers = {};
    shiftMs = 0;
    receiver = await startReceiver({
      port: 0,
      secrets: [secret],
      answer: ({ path }) => answers[path]?.() ?? { status: 200 },
    });
  });
  afterEach(async () => {
    for (const { stopping } of running) stopping.abort();
    await receiver.stop();
    for (const { parts } of running) for (const part of parts.toReversed()) await part.stop(AbortSignal.timeout(3_000));
    running = [];
  });
  after(async () => {
    for (const { stream } of [eventStream(prefix), webhookStream(prefix)]) await nats.jsm.streams.delete(stream.name);
    await nats.close();
  });

  const startDispatcher = async (holder: string): Promise<void> => {
    const stopping = new AbortController();
    const metrics = createMetrics("dispatcher");
    const log = createLog({ program: "dispatcher", level: "fatal" });
    const common = { db: db(), holder, log, clock, natsReplicas: 1 };
    const news = changes({ nats, subjects: names });
    const { parts: webhooks, timers: sources } = webhookParts({
      ...common,
      nats,
      natsPrefix: prefix,
      subjects: names,
      metrics,
      changes: news,
      suspensions: suspensionsOf(),
      mail: null,
      publisher: publisher(nats),
      directory: directory({ db: db(), changes: news, clock }),
      announcer: announcer({ nats, subjects: names }),
      client: guardedClient({ guard: addressGuard({ allow: ["127.0.0.1"] }) }),
      unseal: keys.open,
      random: () => 0,
    });
    const parts = [news, ...webhooks, timers({ sources, ...common, metrics: metrics.queue })];
    for (const part of parts) await part.start(stopping.signal);
    running.push({ parts, stopping });
  };

  /** An endpoint of an app of its own, received at a path of its own. */
  const anEndpoint = async (over: Partial<WebhookRow> = {}): Promise<WebhookRow & { path: string }> => {
    const n = ++made;
    const [id, path] = [`whk_${n}`, `/${n}`];
    const sealed = keys.seal(secret, `webhooks/${id}/secret`);
    const row = aWebhook({ _id: id, app_id: `app_${n}`, url: `${receiver.url}${path}`, secret: sealed, ...over });
    await webhookWork(db()).rows.insertOne({ ...row });
    return { ...row, path };
  };
  const events = (appId: string, count: number, from = 0): EventEnvelope[] =>
    Array.from({ length: count }, (_, n) =>
      makeEvent({
        kind: "delivery.sent",
        appId,
        subjectId: `dlv_${from + n}`,
        data: { n: from + n },
        at: clock.now(),
        from: [appId, String(from + n)],
      }),
    );
  const publish = (made: readonly EventEnvelope[]) =>
    eventPublisher({ publisher: publisher(nats), subjects: names }).publish("ten_1", made);
  const arrived = (path: string) => receiver.received().filter((one) => one.path === path);
  const deliveriesOf = ({ _id }: WebhookRow) => webhookDeliveries(db()).rows.find({ endpoint_id: _id }).toArray();
  const endpointNow = ({ _id }: WebhookRow) => webhookWork(db()).rows.findOne({ _id });
  const isIdle = (row: WebhookRow | null): boolean => row?.lease === null && row.due_at === null;
  /** Waits until an endpoint was given back: it is kept for 2 s after its last request. */
  const settled = (one: WebhookRow): Promise<void> => until(async () => isIdle(await endpointNow(one)), 20_000);

  it("deliver an event, signed so that the public library verifies it", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    const [event] = events(endpoint.app_id, 1);
    await publish([event as EventEnvelope]);
    await until(() => arrived(endpoint.path).length === 1);
    const [request] = arrived(endpoint.path);
    expect(request?.verified).to.equal(true);
    expect(JSON.parse(request?.body ?? "")).to.deep.equal(event);
    expect(request?.headers).to.include({
      "service-event-id": event?.id,
      "service-event-type": "delivery.sent",
      "service-attempt": "1",
      "user-agent": "Service-Webhooks/1.0",
      "content-type": "application/json",
      "webhook-id": event?.id,
    });
    await settled(endpoint);
    const delivery = (await deliveriesOf(endpoint))[0];
    expect(delivery).to.include({ status: "success", attempt: 1, due_at: null, error: null });
    expect(delivery?.attempts[0]).to.include({ response_status: 200, error_class: null });
    expect(request?.headers["service-delivery-id"]).to.equal(delivery?._id);
    expect((await endpointNow(endpoint))?.last_success_at).to.be.instanceOf(Date);
  });

  it("are signed with the previous secret too while it is valid", async () => {
    await startDispatcher("a");
    const older = `whsec_${Buffer.alloc(32, 6).toString("base64")}`;
    const endpoint = await anEndpoint();
    const sealed = keys.seal(older, `webhooks/${endpoint._id}/secret`);
    const previous = { secret: sealed, expires_at: new Date(Date.now() + 60_000) };
    await webhookWork(db()).rows.updateOne({ _id: endpoint._id }, { $set: { previous_secret: previous } });
    await publish(events(endpoint.app_id, 1));
    await until(() => arrived(endpoint.path).length === 1);
    expect(arrived(endpoint.path)[0]?.headers["webhook-signature"]?.split(" ")).to.have.length(2);
    expect(arrived(endpoint.path)[0]?.verified).to.equal(true);
  });

  it("are retried after a 500 when the first gap is over, with the same event id", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    answers[endpoint.path] = () => ({ status: arrived(endpoint.path).length === 0 ? 500 : 204, body: "broken" });
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    const [failed] = await deliveriesOf(endpoint);
    expect(failed).to.include({ attempt: 1 });
    expect(failed?.attempts).to.have.length(1);
    expect(failed?.attempts[0]).to.include({
      response_status: 500,
      response_body_excerpt: "broken",
      error: "answered 500",
      error_class: "server_error",
    });
    await until(async () => (await endpointNow(endpoint))?.failure_count === 1); // saved after the delivery
    shiftMs = 61_000;
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "success", 15_000); // its lease has run out too
    const requests = arrived(endpoint.path);
    expect(requests.map(({ headers }) => headers["service-attempt"])).to.deep.equal(["1", "2"]);
    expect(new Set(requests.map(({ headers }) => headers["webhook-id"])).size).to.equal(1);
    await until(async () => (await endpointNow(endpoint))?.failure_count === 0);
  });

  it("wait as long as a Retry-After asks for", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    answers[endpoint.path] = () => ({ status: 429, headers: { "retry-after": "7200" } });
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    const waits = ((await deliveriesOf(endpoint))[0]?.due_at?.getTime() ?? 0) - Date.now();
    expect(waits).to.be.within(7_190_000, 7_200_000);
  });

  it("disable an endpoint that answers 410, and end what waits for it", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    answers[endpoint.path] = () => ({ status: 410 });
    await publish(events(endpoint.app_id, 40));
    await until(async () => (await endpointNow(endpoint))?.status === "disabled");
    await settled(endpoint);
    expect(await endpointNow(endpoint)).to.include({ disabled_reason: "gone" });
    const deliveries = await deliveriesOf(endpoint);
    expect(deliveries.filter(({ status, due_at }) => status !== "dead" || due_at !== null)).to.deep.equal([]);
    await publish(events(endpoint.app_id, 5, 100));
    await until(async () => (await deliveriesOf(endpoint)).length === 45); // some before the news of it: they end soon
    await until(async () => (await deliveriesOf(endpoint)).every(({ due_at }) => due_at === null));
    expect(arrived(endpoint.path).length).to.be.at.most(10);
  });

  it("arrive once when the batch of events is delivered twice", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint();
    const batch = events(endpoint.app_id, 20);
    const { publish: put } = publisher(nats);
    for (let n = 0; n < 3; n++) await put(names.events("ten_1"), batch);
    await until(() => arrived(endpoint.path).length >= 20);
    const last = await anEndpoint({ app_id: endpoint.app_id });
    await put(names.events("ten_1"), batch);
    await until(async () => {
      const info = await nats.jsm.consumers.info(`${prefix}-events`, "webhooks");
      return info.num_pending + info.num_ack_pending === 0;
    });
    for (const one of [endpoint, last]) await settled(one);
    expect(arrived(endpoint.path)).to.have.length(20);
    expect(await deliveriesOf(endpoint)).to.have.length(20);
  });

  it("of one endpoint are sent by one dispatcher at a time, ten at once, each event once", async () => {
    await startDispatcher("a");
    await startDispatcher("b");
    const endpoint = await anEndpoint();
    let [underWay, most] = [0, 0];
    answers[endpoint.path] = () => {
      most = Math.max(most, ++underWay);
      setTimeout(() => underWay--, 10);
      return { status: 200, delayMs: 10 };
    };
    for (let n = 0; n < 10; n++) await publish(events(endpoint.app_id, 30, n * 30));
    await until(() => arrived(endpoint.path).length >= 300, 20_000); // a call to the holder that is lost costs 10 s
    await settled(endpoint);
    expect(new Set(arrived(endpoint.path).map(({ headers }) => headers["webhook-id"])).size).to.equal(300);
    expect(arrived(endpoint.path)).to.have.length(300);
    expect(most).to.be.within(2, 10);
  });

  it("are never left lying when an event comes just as its endpoint is let go", async () => {
    await startDispatcher("a");
    await startDispatcher("b");
    const endpoint = await anEndpoint();
    for (let n = 0; n < 150; n++) await publish(events(endpoint.app_id, 1, n));
    await until(() => arrived(endpoint.path).length >= 150, 9_000); // a lost one is found by the sweep, after 10 s
    await settled(endpoint);
    expect(arrived(endpoint.path)).to.have.length(150);
  });

  it("to an endpoint that hangs do not delay those to another", async () => {
    await startDispatcher("a");
    const [hanging, healthy] = [await anEndpoint(), await anEndpoint()];
    answers[hanging.path] = () => ({ status: 200, delayMs: 60_000 });
    await publish(events(hanging.app_id, 100));
    await until(() => arrived(hanging.path).length >= 10);
    await publish(events(healthy.app_id, 20));
    await until(() => arrived(healthy.path).length === 20, hanging.timeout_ms / 2);
  });

  it("whose signing secret cannot be opened fail, and say so", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint({ secret: { kid: "lost", data: "AAAA" } });
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    expect((await deliveriesOf(endpoint))[0]?.attempts[0]).to.include({
      error: "a secret cannot be opened",
      error_class: "configuration",
      response_status: null,
    });
  });

  it("to a private address fail without a request", async () => {
    await startDispatcher("a");
    const endpoint = await anEndpoint({ url: "https://10.0.0.1/hook" });
    await publish(events(endpoint.app_id, 1));
    await until(async () => (await deliveriesOf(endpoint))[0]?.status === "failed");
    expect((await deliveriesOf(endpoint))[0]?.attempts[0]).to.include({
      error: "private and local addresses are not allowed",
      error_class: "address_refused",
    });
  });
});
