import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { publisher } from "#core/queue/jetstream/publish.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import {
  eventBatchesPerTenant,
  eventStream,
  jobStream,
  planStream,
  webhookConsumer,
} from "#core/queue/jetstream/topology.ts";
import { subjects } from "#core/queue/subjects.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { aPlan, seed } from "../../support/rows/fixtures.ts";
import { groupOf, partitionOf, testPartitioning } from "../../support/rows/partitioning.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { audit, expectAllSent, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const refilledMs = 30_000; // the sweep publishes a hint within 10 s; the rest is the sending
const madeMs = 15_000; // a request that was lost with its stream is replaced after 6 s, at the latest

describe("queued work, when something happens to the stream of its plan", () => {
  let sending: Sending;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let nats: Nats;
  let stream: string;

  before(async () => {
    const servers = await testServers();
    sending = await startSending(servers);
    nats = await connectNats({ url: servers.natsUrl, name: "tests" });
    stream = streamOf().stream.name;
    [api, dispatcher] = await Promise.all([sending.system.start("apiserver"), sending.system.start("dispatcher")]);
  });
  after(async () => {
    await nats?.close();
    await sending?.close();
  });
  afterEach(() => sending.apns.script({}));

  const streamOf = (plan = "enterprise", backlogPerTenant = 10_000) =>
    planStream(sending.system.prefix, { name: plan, backlogPerTenant }, testTiming);
  const stateOf = async (plan = "enterprise") => (await nats.jsm.streams.info(streamOf(plan).stream.name)).state;
  const hints = async (plan?: string) => (await stateOf(plan)).messages;
  const isThere = (plan?: string) =>
    stateOf(plan).then(
      () => true,
      () => false,
    );
  const announce = (collection: string, id: string) =>
    announcer({ nats, subjects: subjects(sending.system.prefix) }).changed(collection, id);

  type Queued = { messageId: string; devices: SubscriptionRow[] };
  /** Messages that wait while no dispatcher runs. */
  const queued = async (count: number): Promise<Queued[]> => {
    const { system } = sending;
    const devices = await seedDevices(system, count);
    const before = await hints();
    const made = await Promise.all(
      devices.map(async (device) => ({
        messageId: await send(system, api, { target: { include_subscription_ids: [device._id] } }),
        devices: [device],
      })),
    );
    await until(async () => (await hints()) === before + count, madeMs);
    return made;
  };
  const allSentOnce = async (all: readonly Queued[]): Promise<void> => {
    for (const of of all) {
      const result = await audit(sending, { ...of, withinMs: refilledMs });
      expectAllSent(result, of.devices.length);
      expect(result.repeated).to.equal(0);
    }
  };
  const blast = async (count: number): Promise<Queued> => {
    const devices = await seedDevices(sending.system, count);
    const ids = devices.map(({ _id }) => _id);
    sending.apns.script({ delay_ms: 100 });
    const before = sending.apns.log.counts().accepted;
    const target = { include_subscription_ids: ids };
    const messageId = await send(sending.system, api, { target });
    await until(() => sending.apns.log.counts().accepted > before, refilledMs);
    return { messageId, devices };
  };

  it("is sent when the stream was deleted while no dispatcher ran", async () => {
    await dispatcher.stop();
    const all = await queued(20);
    await nats.jsm.streams.delete(stream);
    await dispatcher.restart();
    await until(isThere, madeMs);
    await allSentOnce(all);
  });

  it("is sent when the stream is deleted while it is under way, and the stream is there again in seconds", async () => {
    const all = [await blast(2_000), await blast(1)];
    await nats.jsm.streams.delete(stream);
    await until(isThere, madeMs);
    const { config } = await nats.jsm.streams.info(stream);
    expect(config.max_msgs_per_subject).to.equal(10_000);
    await allSentOnce(all);
  });

  it("is sent when a consumer is deleted while it is under way", async () => {
    for (const consumer of ["plan", "deliver"]) {
      const all = [await blast(1_500)];
      await nats.jsm.consumers.delete(stream, consumer);
      all.push(await blast(1));
      await allSentOnce(all);
    }
  });

  it("comes again after as long as the timing of the programs says", async () => {
    const { consumers, stream } = jobStream(sending.system.prefix, testTiming); // a dispatcher made it
    const waits = consumers.map(async ({ durable_name: name }) => {
      const { config } = await nats.jsm.consumers.info(stream.name, name);
      return (config.ack_wait ?? 0) / 1_000_000;
    });
    expect(await Promise.all(waits)).to.deep.equal(consumers.map(() => testTiming.ackWaitMs));
  });

  it("ends, and its event is published, while another tenant's events have filled their share of the stream", async () => {
    const { db, prefix, tenantId, app } = sending.system;
    const [group, consumer] = [groupOf(app._id), webhookConsumer(partitionOf(app._id))];
    const { stream: events } = eventStream(prefix, testTiming, testPartitioning);
    await nats.jsm.consumers.pause(events.name, consumer, new Date(Date.now() + 120_000)); // as a consumer that is behind
    const publish = (tenant: string) => publisher(nats).publish(subjects(prefix).events(group, tenant), []);
    for (let n = 0; n < eventBatchesPerTenant; n++) nats.nc.publish(subjects(prefix).events(group, "ten_full"), "[]");
    await until(async () => (await publish("ten_full")) === "refused", madeMs);
    const { messageId, devices } = await blast(1);
    await allSentOnce([{ messageId, devices }]);
    await until(
      async () => (await db.collection<MessageRow>("messages").findOne({ _id: messageId }))?.outbox.length === 0,
    );
    expect(await publish(tenantId)).to.equal("published");
    await nats.jsm.consumers.resume(events.name, consumer);
    await until(async () => (await nats.jsm.streams.info(events.name)).state.messages === 0, madeMs);
  });

  it("is sent when its tenant moves to another plan and the former is removed", async () => {
    const { db, tenantId } = sending.system;
    await dispatcher.stop();
    const all = await queued(20);
    await seed(db, { plans: [aPlan({ _id: "growth" })] });
    await ensureStream(nats.jsm, streamOf("growth"));
    await db.collection<TenantRow>("tenants").updateOne({ _id: tenantId }, { $set: { plan: "growth" } });
    await db.collection<PlanRow>("plans").deleteOne({ _id: "enterprise" });
    await nats.jsm.streams.delete(stream);
    announce("tenants", tenantId);
    await dispatcher.restart();
    await allSentOnce(all);
    expect(await isThere(), "the stream of a plan that is gone was made again").to.equal(false);
    await allSentOnce([await blast(1_000)]);
  });

  it("is sent when its tenant moves while it is under way", async () => {
    const { db, tenantId } = sending.system;
    const all = [await blast(2_000)];
    await seed(db, { plans: [aPlan({ _id: "starter" })] });
    await ensureStream(nats.jsm, streamOf("starter"));
    announce("plans", "starter");
    await db.collection<TenantRow>("tenants").updateOne({ _id: tenantId }, { $set: { plan: "starter" } });
    announce("tenants", tenantId);
    await until(async () => (await stateOf("starter")).last_seq > 0, madeMs); // each is gone in an instant
    await allSentOnce(all);
  });
});
