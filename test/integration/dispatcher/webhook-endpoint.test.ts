import { expect } from "chai";
import { type Db, MongoClient } from "mongodb";
import { makeEvent } from "#core/domain/events.ts";
import { createLog } from "#core/runtime/log.ts";
import { createMetrics } from "#core/runtime/metrics.ts";
import { ensureIndexes } from "#core/storage/all.ts";
import { type WebhookDeliveryRow, webhookDeliveries } from "#core/storage/webhook-deliveries.ts";
import { webhookWork } from "#core/storage/webhooks.ts";
import { type EndpointDeps, serveEndpoint } from "../../../dispatcher/webhooks/endpoint.ts";
import { testServers } from "../../support/servers.ts";
import { aWebhook } from "../../support/webhooks.ts";

const clock = { now: () => new Date() };
const soon = (): Date => new Date(Date.now() + 10_000);

/** A request that the endpoint accepts. */
const succeed: EndpointDeps["send"] = async (_endpoint, { _id, attempt }) => ({
  attempt: {
    _id,
    attempt: attempt + 1,
    status: "success",
    due_at: null,
    response_status: 200,
    response_body_excerpt: null,
    error: null,
    duration_ms: 1,
    delivered_at: clock.now(),
  },
  isGone: false,
});

const aDelivery = (endpointId: string, n: number): WebhookDeliveryRow => ({
  _id: `whd_${endpointId}_${n}`,
  tenant_id: "ten_1",
  app_id: "app_1",
  endpoint_id: endpointId,
  event_id: `evt_${n}`,
  event_type: "delivery.sent",
  subject_id: null,
  payload: makeEvent({
    kind: "delivery.sent",
    appId: "app_1",
    subjectId: null,
    data: {},
    at: clock.now(),
    from: [String(n)],
  }),
  status: "pending",
  attempt: 0,
  due_at: new Date(),
  response_status: null,
  response_body_excerpt: null,
  error: null,
  duration_ms: null,
  delivered_at: null,
  created_at: new Date(),
});

describe("serving an endpoint", function () {
  this.timeout(60_000);
  let mongo: MongoClient;
  let db: Db;
  let made = 0;

  before(async () => {
    const { mongodbUrl } = await testServers();
    mongo = await MongoClient.connect(mongodbUrl);
    db = mongo.db(`test_webhook_endpoint_${process.pid}`);
    await ensureIndexes(db);
  });
  after(async () => {
    await db.dropDatabase();
    await mongo.close();
  });

  const anEndpoint = async (): Promise<string> => {
    const id = `whk_${++made}`;
    await webhookWork(db).rows.insertOne(aWebhook({ _id: id }));
    return id;
  };
  const keep = (endpointId: string, from: number, count = 1) =>
    webhookDeliveries(db).keep(Array.from({ length: count }, (_, n) => aDelivery(endpointId, from + n)));

  /** A dispatcher whose requests all succeed, on the real database; what it sent and rang. */
  const aServer = (over: Partial<EndpointDeps> = {}) => {
    const sent: string[] = [];
    const rung: string[] = [];
    const send: EndpointDeps["send"] = (endpoint, delivery, signal) => {
      sent.push(delivery._id);
      return succeed(endpoint, delivery, signal);
    };
    const serve = serveEndpoint({
      endpoints: webhookWork(db),
      deliveries: webhookDeliveries(db),
      send,
      ring: async (id) => rung.push(id),
      announce: () => {},
      holder: "a",
      stopping: new AbortController().signal,
      metrics: createMetrics("dispatcher"),
      log: createLog({ program: "dispatcher", level: "fatal" }),
      clock,
      ...over,
    });
    return { serve, sent, rung };
  };
  const row = (id: string) => webhookWork(db).rows.findOne({ _id: id });

  it("sends all that is due, batch after batch, and lets the endpoint go", async () => {
    const id = await anEndpoint();
    await keep(id, 0, 250);
    const { serve, sent } = aServer();
    await serve(id);
    expect(new Set(sent).size).to.equal(250);
    expect(await row(id)).to.include({ lease: null, due_at: null, failure_count: 0 });
  });

  it("notices a delivery that is kept after it looked for the last time", async () => {
    const id = await anEndpoint();
    await keep(id, 0);
    const kept = webhookDeliveries(db);
    let isFirst = true;
    const nextDueAt = async (endpointId: string) => {
      const found = await kept.nextDueAt(endpointId);
      if (isFirst) {
        isFirst = false;
        await keep(id, 1);
        await webhookWork(db).wake([id], soon());
      }
      return found;
    };
    const { serve, sent } = aServer({ deliveries: { ...kept, nextDueAt } });
    await serve(id);
    expect(sent).to.deep.equal([`whd_${id}_0`, `whd_${id}_1`]);
    expect(await row(id)).to.include({ lease: null, due_at: null });
  });

  it("leaves an endpoint alone that another holds, and its wake-up is not lost", async () => {
    const id = await anEndpoint();
    await keep(id, 0);
    const held = await webhookWork(db).take(id, { holder: "b", now: clock.now(), holdMs: 30_000 });
    await webhookWork(db).wake([id], soon());
    const { serve, sent } = aServer();
    await serve(id);
    expect(sent).to.deep.equal([]);
    if (held === null) throw new Error("the endpoint was free");
    expect(await webhookWork(db).settle(held, null, held.row)).to.equal(false);
  });

  it("takes an endpoint over whose holder died, and shuts the dead one out", async () => {
    const id = await anEndpoint();
    await keep(id, 0);
    const dead = await webhookWork(db).take(id, { holder: "b", now: new Date(Date.now() - 31_000), holdMs: 30_000 });
    const { serve, sent } = aServer();
    await serve(id);
    expect(sent).to.have.length(1);
    if (dead === null) throw new Error("the endpoint was free");
    expect(await webhookWork(db).settle(dead, null, dead.row)).to.equal(false);
    expect(await webhookWork(db).renew(dead, { now: clock.now(), holdMs: 30_000 })).to.equal(null);
  });

  it("begins no request once it is to stop, and leaves the rest due", async () => {
    const id = await anEndpoint();
    await keep(id, 0, 50);
    const stopping = new AbortController();
    const begun: string[] = [];
    const { serve } = aServer({
      stopping: stopping.signal,
      send: async (endpoint, delivery, signal) => {
        stopping.abort();
        begun.push(delivery._id);
        await new Promise(setImmediate);
        return succeed(endpoint, delivery, signal);
      },
    });
    await serve(id);
    expect(begun.length).to.be.at.most(10);
    const after = await row(id);
    expect(after?.lease).to.equal(null);
    expect(after?.due_at).to.be.instanceOf(Date);
    expect(await webhookDeliveries(db).due(id, soon(), 100)).to.have.length(50 - begun.length);
  });

  it("does not enable an endpoint that somebody disabled meanwhile, and ends what waits for it", async () => {
    const id = await anEndpoint();
    await keep(id, 0, 30);
    const { serve } = aServer({
      send: async (endpoint, delivery, signal) => {
        await webhookWork(db).rows.updateOne({ _id: id }, { $set: { status: "disabled" } });
        return succeed(endpoint, delivery, signal);
      },
    });
    await serve(id);
    expect(await row(id)).to.include({ status: "disabled", lease: null, due_at: null });
    expect(await webhookDeliveries(db).due(id, soon(), 100)).to.deep.equal([]);
  });
});
