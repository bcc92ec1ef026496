import { expect } from "chai";
import { type Db, MongoClient } from "mongodb";
import { makeEvent } from "#core/domain/events.ts";
import { createLog } from "#core/runtime/log.ts";
import { ensureIndexes } from "#core/storage/all.ts";
import { type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhook-deliveries.ts";
import { type WebhookRow, webhookDefaults, webhookWork } from "#core/storage/webhooks.ts";
import { deliveryOf, written } from "../../../dispatcher/webhooks/delivery.ts";
import { handOver, type Lanes, type LanesDeps, lanes } from "../../../dispatcher/webhooks/lanes.ts";
import type { SendWebhook } from "../../../dispatcher/webhooks/send.ts";
import { testServers } from "../../support/servers.ts";
import { until } from "../../support/until.ts";
import { aWebhook } from "../../support/webhooks.ts";

const clock = { now: () => new Date() };
const answered = { duration_ms: 1, error_class: null, error: null, response_body_excerpt: null, response_status: 200 };

/** A request that the endpoint accepts. */
const succeed: SendWebhook = async (_endpoint, { _id, attempt }) => ({
  concluded: {
    _id,
    attempt: attempt + 1,
    status: "success",
    due_at: null,
    delivered_at: clock.now(),
    made: { at: clock.now(), ...answered },
  },
  isGone: false,
});

const offer = (some: Lanes, endpoint: WebhookRow, rows: readonly WebhookDeliveryRow[]): Promise<void> =>
  some.offer(endpoint, rows.length, () => rows);

describe("lanes", function () {
  this.timeout(60_000);
  let mongo: MongoClient;
  let db: Db;
  let made = 0;
  let running: Lanes[] = [];

  before(async () => {
    const { mongodbUrl } = await testServers();
    mongo = await MongoClient.connect(mongodbUrl);
    db = mongo.db(`test_webhook_lanes_${process.pid}`);
    await ensureIndexes(db);
  });
  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop(AbortSignal.timeout(10_000))));
    running = [];
  });
  after(async () => {
    await db.dropDatabase();
    await mongo.close();
  });

  const work = () => webhookWork(db);
  const anEndpoint = async (over: Partial<WebhookRow> = {}): Promise<WebhookRow> => {
    const row = aWebhook({ _id: `whk_${++made}`, last_success_at: new Date(), ...over });
    await work().rows.insertOne({ ...row });
    return row;
  };
  const rowsFor = (endpoint: WebhookRow, count: number, subject: string | null = null): WebhookDeliveryRow[] =>
    Array.from({ length: count }, () => {
      const from = [String(++made)];
      const event = makeEvent({
        kind: "user.deleted",
        appId: "app_1",
        subjectId: subject,
        data: {},
        at: clock.now(),
        from,
      });
      return deliveryOf(endpoint, written(event), clock.now());
    });
  const endpointNow = ({ _id }: WebhookRow) => work().rows.findOne({ _id });
  const deliveriesOf = ({ _id }: WebhookRow) => webhookDeliveries(db).rows.find({ endpoint_id: _id }).toArray();
  const isLetGo = async (endpoint: WebhookRow) => (await endpointNow(endpoint))?.lease === null;

  /** The lanes of a dispatcher on the real database; what it sent, stored and rang. */
  const aDispatcher = async (over: Partial<LanesDeps> = {}) => {
    const sent: string[] = [];
    const stored: string[] = [];
    const rung: string[] = [];
    const called: string[] = [];
    const deliveries = webhookDeliveries(db);
    const ring = async (id: string) => rung.push(id);
    const send = over.send ?? succeed;
    const made = lanes({
      endpoints: work(),
      deliveries,
      keep: async (row) => {
        stored.push(row.status);
        await deliveries.keep([row]);
      },
      record: async (concluded) => deliveries.record([concluded]),
      unseal: () => "whsec_AAAA",
      recover: async () => expect.fail("nothing is to be recovered"),
      handOver: (id) => handOver({ endpoints: work(), ring, clock }, id),
      ring,
      callHolder: (id) => called.push(id),
      announce: () => {},
      observe: () => {},
      holder: `h${running.length}`,
      log: createLog({ program: "dispatcher", level: "fatal" }),
      clock,
      ...over,
      send: (endpoint, delivery) => {
        sent.push(delivery._id);
        return send(endpoint, delivery);
      },
    });
    await made.start(AbortSignal.timeout(10_000));
    running.push(made);
    return { lanes: made, sent, stored, rung, called };
  };

  it("store a fresh delivery once, with its outcome", async () => {
    const endpoint = await anEndpoint();
    const { lanes: some, stored } = await aDispatcher();
    await offer(some, endpoint, rowsFor(endpoint, 50));
    expect(stored).to.deep.equal(Array.from({ length: 50 }, () => "success"));
    expect((await deliveriesOf(endpoint)).every(({ attempts }) => attempts.length === 1)).to.equal(true);
  });

  it("store a delivery as waiting when its endpoint is slow, and its outcome later", async () => {
    const endpoint = await anEndpoint({ last_success_at: null });
    const answer = Promise.withResolvers<void>();
    const { lanes: some, stored } = await aDispatcher({
      send: async (...given) => {
        await answer.promise;
        return succeed(...given);
      },
    });
    await offer(some, endpoint, rowsFor(endpoint, 30));
    expect(stored).to.deep.equal(Array.from({ length: 30 }, () => "pending"));
    answer.resolve();
    await until(async () => (await deliveriesOf(endpoint)).every(({ status }) => status === "success"));
    expect(stored).to.have.length(30);
  });

  it("send all that is due in the store, and let the endpoint go", async () => {
    const endpoint = await anEndpoint();
    await webhookDeliveries(db).keep(rowsFor(endpoint, 450));
    const { lanes: some, sent } = await aDispatcher();
    await some.answer(endpoint._id);
    await until(() => sent.length >= 450);
    await until(() => isLetGo(endpoint));
    expect(new Set(sent).size).to.equal(450);
    expect(sent).to.have.length(450);
    expect(await endpointNow(endpoint)).to.include({ due_at: null, failure_count: 0 });
  });

  it("send one delivery of a subject at a time, in order", async () => {
    const endpoint = await anEndpoint();
    const order: string[] = [];
    let [underWay, most] = [0, 0];
    const { lanes: some } = await aDispatcher({
      send: async (given, delivery) => {
        most = Math.max(most, ++underWay);
        order.push(delivery._id);
        await new Promise(setImmediate);
        underWay--;
        return succeed(given, delivery);
      },
    });
    const rows = rowsFor(endpoint, 20, "usr_1");
    await offer(some, endpoint, rows);
    expect(order).to.deep.equal(rows.map(({ _id }) => _id));
    expect(most).to.equal(1);
  });

  it("keep what comes while an endpoint is paused, and send it afterwards", async () => {
    const endpoint = await anEndpoint({ paused: true });
    const { lanes: some, sent } = await aDispatcher();
    await offer(some, endpoint, rowsFor(endpoint, 5));
    await some.answer(endpoint._id);
    await until(() => isLetGo(endpoint));
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(Array(5).fill("pending"));
    expect(sent).to.deep.equal([]);
    await work().rows.updateOne({ _id: endpoint._id }, { $set: { paused: false } });
    await some.answer(endpoint._id);
    await until(() => sent.length === 5);
  });

  it("begin no more requests a second than the endpoint admits", async () => {
    const endpoint = await anEndpoint({ rate_per_second: 20 });
    const times: number[] = [];
    const { lanes: some } = await aDispatcher({
      send: async (...given) => {
        times.push(performance.now());
        return succeed(...given);
      },
    });
    await offer(some, endpoint, rowsFor(endpoint, 20));
    await until(() => times.length === 20);
    const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(tookMs).to.be.within(750, 2_000); // 19 gaps of 50 ms, less a burst of 100 ms
  });

  it("notice a delivery that is stored after they looked for the last time", async () => {
    const endpoint = await anEndpoint();
    const deliveries = webhookDeliveries(db);
    const [first, second] = rowsFor(endpoint, 2) as [WebhookDeliveryRow, WebhookDeliveryRow];
    await deliveries.keep([first]);
    let isFirst = true;
    const nextDueAt = async (endpointId: string) => {
      const found = await deliveries.nextDueAt(endpointId);
      if (isFirst) {
        isFirst = false;
        await deliveries.keep([second]);
        await work().wake([endpoint._id], new Date(Date.now() + 10_000));
      }
      return found;
    };
    const { lanes: some, sent } = await aDispatcher({ deliveries: { ...deliveries, nextDueAt } });
    await some.answer(endpoint._id);
    await until(() => sent.length === 2);
    await until(() => isLetGo(endpoint));
    expect(await endpointNow(endpoint)).to.include({ due_at: null });
  });

  it("leave an endpoint that another process holds to it: what comes is stored, and its holder is called", async () => {
    const endpoint = await anEndpoint();
    const held = await work().take(endpoint._id, { holder: "other", now: clock.now(), holdMs: 30_000 });
    const { lanes: some, sent, rung, called } = await aDispatcher();
    await offer(some, endpoint, rowsFor(endpoint, 3));
    expect(rung).to.deep.equal([endpoint._id]);
    await some.answer(endpoint._id);
    expect(called).to.deep.equal([endpoint._id]);
    expect(sent).to.deep.equal([]);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(Array(3).fill("pending"));
    if (held === null) throw new Error("the endpoint was free");
    expect(await work().settle(held, null, {})).to.equal(false); // it was woken
  });

  it("take an endpoint over whose holder died, and shut the dead one out", async () => {
    const endpoint = await anEndpoint();
    await webhookDeliveries(db).keep(rowsFor(endpoint, 1));
    const ago = new Date(Date.now() - 31_000);
    const dead = await work().take(endpoint._id, { holder: "dead", now: ago, holdMs: 30_000 });
    const { lanes: some, sent } = await aDispatcher();
    await some.answer(endpoint._id);
    await until(() => sent.length === 1);
    if (dead === null) throw new Error("the endpoint was free");
    expect(await work().settle(dead, null, {})).to.equal(false);
    expect(await work().renew(dead, {}, { now: clock.now(), holdMs: 30_000 })).to.equal(null);
  });

  it("begin nothing once their lease has run out, until it is renewed", async () => {
    const endpoint = await anEndpoint();
    let shiftMs = 0;
    const shifted = { now: () => new Date(Date.now() + shiftMs) };
    const { lanes: some, sent } = await aDispatcher({ clock: shifted });
    await offer(some, endpoint, rowsFor(endpoint, 1));
    const other = { holder: "other", now: new Date(Date.now() + 31_000), holdMs: 60_000 };
    expect(await work().take(endpoint._id, other)).to.not.equal(null);
    shiftMs = 31_000;
    await offer(some, endpoint, rowsFor(endpoint, 4));
    expect(sent).to.have.length(1);
    expect((await deliveriesOf(endpoint)).filter(({ status }) => status === "pending")).to.have.length(4);
  });

  it("finish what is under way when they stop, and leave the rest due", async () => {
    const endpoint = await anEndpoint();
    await webhookDeliveries(db).keep(rowsFor(endpoint, 50));
    const { lanes: some, sent } = await aDispatcher({
      send: async (...given) => {
        await new Promise((resolve) => setTimeout(resolve, 300)); // a slow endpoint
        return succeed(...given);
      },
    });
    await some.answer(endpoint._id);
    await until(() => sent.length >= 10);
    await some.stop(AbortSignal.timeout(10_000));
    const after = await endpointNow(endpoint);
    expect(after?.lease).to.equal(null);
    expect(after?.due_at).to.be.instanceOf(Date);
    const statuses = Object.groupBy(await deliveriesOf(endpoint), ({ status }) => status);
    expect(statuses.success).to.have.length(sent.length);
    expect(statuses.pending).to.have.length(50 - sent.length);
  });

  it("do not enable an endpoint that somebody disabled meanwhile, and end what waits for it", async () => {
    const endpoint = await anEndpoint();
    await webhookDeliveries(db).keep(rowsFor(endpoint, 30));
    const { lanes: some } = await aDispatcher({
      send: async (...given) => {
        await work().rows.updateOne({ _id: endpoint._id }, { $set: { status: "disabled" } });
        some.refresh(endpoint._id);
        return succeed(...given);
      },
    });
    await some.answer(endpoint._id);
    await until(() => isLetGo(endpoint));
    expect(await endpointNow(endpoint)).to.include({ status: "disabled", due_at: null });
    expect((await deliveriesOf(endpoint)).filter(({ due_at }) => due_at !== null)).to.deep.equal([]);
  });

  it("keep what a disabled endpoint misses as dead, for it to be recovered", async () => {
    const endpoint = await anEndpoint({ ...webhookDefaults, status: "disabled" });
    const { lanes: some, sent } = await aDispatcher();
    await offer(some, endpoint, rowsFor(endpoint, 2));
    const [row] = await deliveriesOf(endpoint);
    expect(row).to.include({ status: "dead", error: "endpoint disabled", attempt: 0, due_at: null });
    expect(sent).to.deep.equal([]);
  });

  it("store the outcome of a delivery that another process has stored as waiting meanwhile", async () => {
    const endpoint = await anEndpoint();
    const rows = rowsFor(endpoint, 2);
    const { lanes: some } = await aDispatcher({
      send: async (...given) => {
        await webhookDeliveries(db).keep(rows);
        return succeed(...given);
      },
    });
    await offer(some, endpoint, rows);
    expect((await deliveriesOf(endpoint)).map(({ status }) => status)).to.deep.equal(["success", "success"]);
  });

  it("remove the deliveries of an endpoint that is gone", async () => {
    const endpoint = aWebhook({ _id: `whk_gone_${made}` });
    await webhookDeliveries(db).keep(rowsFor(endpoint, 700));
    const { lanes: some } = await aDispatcher();
    await some.answer(endpoint._id);
    expect(await deliveriesOf(endpoint)).to.deep.equal([]);
  });
});
