import { expect } from "chai";
import { type Db, MongoClient } from "mongodb";
import { connectNats } from "#core/queue/jetstream/connect.ts";
import { ensureStream } from "#core/queue/jetstream/streams.ts";
import { planStream } from "#core/queue/jetstream/topology.ts";
import { ensureIndexes } from "#core/storage/collections.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { type TestServers, testServers } from "../../support/servers/servers.ts";
import { testTiming } from "../../support/suite/soak.ts";
import { audit, expectAllSent, type Sending, seedDevices, send, startSending } from "../../support/system/sending.ts";
import { until } from "../../support/until.ts";

const recipients = 1_500;

describe("a MongoDB that is restored beside an empty JetStream", () => {
  let servers: TestServers;
  let sending: Sending;
  let client: MongoClient;
  let restored: Db;

  before(async () => {
    servers = await testServers();
    sending = await startSending(servers);
    client = await MongoClient.connect(servers.mongodbUrl);
    restored = client.db(`${sending.system.prefix}_restored`);
  });
  after(async () => {
    await restored?.dropDatabase();
    await client?.close();
    await sending?.close();
    await dropStreams(servers, `${sending.system.prefix}_restored`);
  });

  it("has every accepted message sent: one that nobody had begun, and one in the midst of it", async () => {
    const { system, apns } = sending;
    const devices = await seedDevices(system, recipients);
    const [api, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    apns.script({ delay_ms: 50 });
    const begun = await send(system, api, { target: { all: true } });
    await until(() => apns.log.counts().accepted > 200);
    await dispatcher.kill();
    const waiting = await send(system, api, { target: { include_subscription_ids: [devices[0]?._id] } });
    await api.kill();
    const acceptedBefore = apns.log.counts().accepted;
    expect(acceptedBefore).to.be.below(recipients);

    await copy(system.db, restored);
    await makeStreams(servers, restored); // as the operator does for every Plan
    const env = { HERALD_MONGODB_DATABASE: restored.databaseName, HERALD_NATS_PREFIX: restored.databaseName };
    await system.start("dispatcher", env);
    const there = { ...system, db: restored, ended: (id: string, withinMs: number) => ended(restored, id, withinMs) };
    const ask = (messageId: string, to: typeof devices) =>
      audit({ system: there, apns }, { messageId, devices: to, withinMs: 75_000 });
    expectAllSent(await ask(waiting, devices.slice(0, 1)), 1);
    const blast = await ask(begun, devices);
    expectAllSent(blast, recipients);
    expect(blast.repeated).to.be.at.most(100); // what the kill left unsaved
  });
});

/** As a dump and its restore. */
const copy = async (from: Db, to: Db): Promise<void> => {
  await ensureIndexes(to);
  for (const { name } of await from.listCollections().toArray()) {
    const rows = await from.collection(name).find().toArray(); // a few thousand
    if (rows.length > 0) await to.collection(name).insertMany(rows);
  }
};

const makeStreams = async ({ natsUrl }: TestServers, db: Db): Promise<void> => {
  const nats = await connectNats({ url: natsUrl, name: "restore" });
  for (const { _id: name, backlog_per_tenant: backlogPerTenant } of await db
    .collection<PlanRow>("plans")
    .find()
    .toArray())
    await ensureStream(nats.jsm, planStream(db.databaseName, { name, backlogPerTenant }, testTiming));
  await nats.close();
};

const dropStreams = async ({ natsUrl }: TestServers, prefix: string): Promise<void> => {
  const nats = await connectNats({ url: natsUrl, name: "restore" });
  for await (const { config } of nats.jsm.streams.list(`${prefix}.>`)) await nats.jsm.streams.delete(config.name);
  await nats.close();
};

const ended = async (db: Db, id: string, withinMs: number): Promise<MessageRow> => {
  const find = () => db.collection<MessageRow>("messages").findOne({ _id: id });
  await until(async () => (await find())?.completed_at instanceof Date, withinMs);
  return (await find()) as MessageRow; // it was there a moment ago
};
