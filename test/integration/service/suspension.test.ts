import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { announcer } from "#core/queue/announce.ts";
import { connectNats, type Nats } from "#core/queue/jetstream/connect.ts";
import { subjects } from "#core/queue/subjects.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ChunkRow } from "#core/storage/messages/chunks.ts";
import type { TenantRow } from "#core/storage/tenants/tenants.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
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

const endedMs = 60_000;
const releasedMs = 30_000; // what nobody released would come after a minute
const observedMs = 2_000; // how long nothing may be sent before a test believes it

describe("a tenant that is suspended while its work is under way", () => {
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
    await until(() => accepted() >= 500);
    apns.script({ delay_ms: 1_000 }); // most are still to be begun when the suspension is announced
    await suspend(true);
    const chunks = () => system.db.collection<ChunkRow>("chunks").find({ message_id: messageId }).toArray();
    const isStopped = (all: readonly ChunkRow[]) =>
      all.every(({ lease }) => lease === null) && all.some(({ suspended_tenant: of }) => of !== undefined);
    await until(async () => isStopped(await chunks())); // nobody sends any more
    const count = accepted();
    expect((await post(system, api, { target: { all: true } })).status).to.equal(403);
    const [device] = await seedDevices(other, 1);
    const ofOther = await send(other, api, { target: { all: true } });
    await other.ended(ofOther, endedMs);
    await sleep(observedMs);
    expect(accepted(), "sent later than that after the suspension").to.equal(count + 1);
    expect(apns.log.tally("address").get(device?.token ?? "")).to.equal(1);
    expect(count).to.be.below(devices.length);
    const stopped = await chunks();
    expect(stopped.filter(({ suspended_tenant: tenantId }) => tenantId !== undefined)).to.not.deep.equal([]);
    apns.script({});
    await suspend(false);
    const whole = await audit(sending, { messageId, devices, withinMs: releasedMs });
    expectAllSent(whole, devices.length);
    expect(whole.repeated).to.equal(0);
    expect([...new Set(stopped.map(({ attempt }) => attempt))], "attempts that the suspension cost").to.deep.equal([0]);
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
    await until(isSuspended);
    const before = accepted();
    await sleep(observedMs);
    expect(accepted()).to.equal(before);
    await suspend(false);
    await until(() => sending.apns.log.tally("address").get(device?.token ?? "") === 1, releasedMs);
    expect((await system.ended(messageId, endedMs)).status).to.equal("completed");
  });

  it("keeps its webhook deliveries without using up attempts, and sends each once", async () => {
    const { system } = sending;
    const url = `${receiver.url}/suspended`;
    const { _id: id } = await addEndpoint(system, { url, names: ["order"], rate_per_second: 50 });
    announce("webhooks", id);
    const arrived = (): ReceivedWebhook[] => receiver.received().filter(({ path }) => path === "/suspended");
    const events = Array.from({ length: 400 }, (_, n) => anEvent("order", n)); // 8 s of them
    await postEvents(system, api, events);
    await until(() => arrived().length >= 20);
    await suspend(true);
    let [count, sinceMs] = [0, performance.now()];
    await until(() => {
      if (arrived().length !== count) [count, sinceMs] = [arrived().length, performance.now()];
      return performance.now() - sinceMs > observedMs; // a hundred more would have come
    });
    expect(count).to.be.below(events.length);
    const faster = { $set: { rate_per_second: 1_000 } };
    await system.db.collection<WebhookRow>("webhooks").updateOne({ _id: id }, faster);
    announce("webhooks", id);
    await suspend(false);
    await until(() => arrived().length > count, releasedMs);
    await deliveriesBecome(system, [id], { are: ({ success = 0 }) => success === events.length, withinMs: endedMs });
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
