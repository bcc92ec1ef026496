import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import { type ReceivedWebhook, type Receiver, startReceiver } from "../../../dev/simulators/receiver.ts";
import { anApiKey, anApp, aTenant, seed, testKeyRing } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import {
  audit,
  expectAllSent,
  post,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";
import { addEndpoint, anEvent, deliveriesBecome, loopbackAllowed, postEvents } from "../../support/webhooks/traffic.ts";

const withinMs = 3_000; // a second is promised; other tests run beside this one
const observedMs = 2_000; // how long nothing may be sent before a test believes it

describe("a tenant that is suspended while its work is under way", function () {
  this.timeout(60_000);
  let sending: Sending;
  let api: SystemProgram;
  let nats: Nats;
  let receiver: Receiver;
  let other: System;

  before(async () => {
    const servers = await testServers();
    sending = await startSending(servers);
    nats = await connectNats({ url: servers.natsUrl, name: "tests" });
    receiver = await startReceiver({ port: 0 });
    const { system } = sending;
    [api] = await Promise.all([
      system.start("apiserver", loopbackAllowed),
      system.start("dispatcher", loopbackAllowed),
      system.start("dispatcher", loopbackAllowed),
    ]);
    other = await anotherTenant(system);
  });
  after(async () => {
    await receiver?.stop();
    await nats?.close();
    await sending?.close();
  });
  afterEach(async () => {
    sending.apns.script({});
    await suspend(false);
  });

  const announce = (collection: string, id: string): void =>
    announcer({ nats, subjects: subjects(sending.system.prefix) }).changed(collection, id);
  const suspend = async (suspended: boolean): Promise<void> => {
    const { db, tenantId } = sending.system;
    await db.collection<TenantRow>("tenants").updateOne({ _id: tenantId }, { $set: { suspended } });
    announce("tenants", tenantId);
  };
  const accepted = (): number => sending.apns.log.counts().accepted;

  it("stops sending and goes on as soon as that is announced, each recipient once; others go on", async () => {
    const { system, apns } = sending;
    const devices = await seedDevices(system, 3_000);
    apns.script({ delay_ms: 200 });
    const messageId = await send(system, api, { target: { all: true } });
    await until(() => accepted() >= 500, 15_000);
    await suspend(true);
    await sleep(withinMs);
    const count = accepted();
    expect((await post(system, api, { target: { all: true } })).status).to.equal(403);
    const [device] = await seedDevices(other, 1);
    const ofOther = await send(other, api, { target: { all: true } });
    await other.ended(ofOther, 15_000);
    await sleep(observedMs);
    expect(accepted(), "sent later than that after the suspension").to.equal(count + 1);
    expect(apns.log.tally("address").get(device?.token ?? "")).to.equal(1);
    expect(count).to.be.below(devices.length);
    const chunks = await system.db.collection<ChunkRow>("chunks").find({ message_id: messageId }).toArray();
    expect(chunks.filter(({ suspended_tenant: tenantId }) => tenantId !== undefined)).to.not.deep.equal([]);
    await suspend(false);
    await until(() => accepted() > count + 1, withinMs);
    expectAllSent(await audit(sending, { messageId, devices, withinMs: 30_000 }), devices.length);
    expect((await audit(sending, { messageId, devices, withinMs: 1_000 })).repeated).to.equal(0);
    expect([...new Set(chunks.map(({ attempt }) => attempt))], "attempts that the suspension cost").to.deep.equal([0]);
  });

  it("sends what fell due meanwhile as soon as its end is announced", async () => {
    const { system } = sending;
    const [device] = await seedDevices(system, 1);
    const target = { include_subscription_ids: [device?._id] };
    const messageId = await send(system, api, { target, send_after: new Date(Date.now() + 1_000).toISOString() });
    await suspend(true);
    const isSuspended = async () =>
      (await system.db.collection("messages").findOne({ _id: messageId as never }))?.["suspended_tenant"] ===
      system.tenantId;
    await until(isSuspended, 10_000);
    const before = accepted();
    await sleep(observedMs);
    expect(accepted()).to.equal(before);
    await suspend(false);
    await until(() => sending.apns.log.tally("address").get(device?.token ?? "") === 1, withinMs);
    expect((await system.ended(messageId, 15_000)).status).to.equal("completed");
  });

  it("keeps its webhook deliveries without using up attempts, and sends each once", async () => {
    const { system } = sending;
    const url = `${receiver.url}/suspended`;
    const { _id: id } = await addEndpoint(system, { url, names: ["order"], rate_per_second: 50 });
    announce("webhooks", id);
    const arrived = (): ReceivedWebhook[] => receiver.received().filter(({ path }) => path === "/suspended");
    const events = Array.from({ length: 200 }, (_, n) => anEvent("order", n));
    await postEvents(system, api, events);
    await until(() => arrived().length >= 20, 10_000);
    await suspend(true);
    await sleep(withinMs);
    const count = arrived().length;
    await sleep(observedMs);
    expect(arrived()).to.have.lengthOf(count);
    expect(count).to.be.below(events.length);
    await suspend(false);
    await until(() => arrived().length > count, withinMs);
    await deliveriesBecome(system, [id], { are: ({ success = 0 }) => success === events.length, withinMs: 15_000 });
    expect(new Set(arrived().map(({ headers }) => headers["service-event-id"]))).to.have.lengthOf(events.length);
    expect(arrived().every(({ headers }) => headers["service-attempt"] === "1")).to.equal(true);
    expect(arrived()).to.have.lengthOf(events.length);
  });
});

/** A tenant with an app that sends over the same account. */
const anotherTenant = async (system: System): Promise<System> => {
  const tenant = aTenant();
  const blank = anApp({ tenant_id: tenant._id });
  const account = system.app.channels.ios_push as NonNullable<AppRow["channels"]["ios_push"]>; // every system has one
  const ring = keyRing(testKeyRing);
  const pem = ring.open(account.private_key, `apps/${system.app._id}/ios_push.private_key`);
  const sealed = ring.seal(pem, `apps/${blank._id}/ios_push.private_key`);
  const app: AppRow = { ...blank, channels: { ios_push: { ...account, private_key: sealed } } };
  const { row, token } = anApiKey({ tenant_id: tenant._id });
  await seed(system.db, { tenants: [tenant], apps: [app], apiKeys: [row] });
  return { ...system, app, tenantId: tenant._id, token };
};
