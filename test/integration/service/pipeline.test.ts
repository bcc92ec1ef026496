import { expect } from "chai";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { aUser, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { type ReadEvents, readEvents } from "../../support/system/events.ts";
import {
  aToken,
  deliveriesOf,
  nobody,
  type Sending,
  seedDevices,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

/** What APNs gets to show. */
type Alert = { aps: { alert: { body: string } } };

const sweptMs = 25_000; // a hint that is lost is published again after 10 s

describe("a message on its way from the REST call to the provider", () => {
  let sending: Sending;
  let api: SystemProgram;
  let events: ReadEvents;

  before(async () => {
    const servers = await testServers();
    sending = await startSending(servers);
    const { system } = sending;
    const tenants = system.db.collection<{ _id: string }>("tenants");
    await tenants.updateOne({ _id: system.tenantId }, { $set: { created_at: new Date() } });
    [api] = await Promise.all([system.start("apiserver"), system.start("dispatcher"), system.start("dispatcher")]);
    events = await readEvents(servers.natsUrl, system.prefix);
  });

  after(async () => {
    await events?.close();
    await sending?.close();
  });

  afterEach(() => sending.apns.script({}));

  const sendTo = (target: object, more: object = {}): Promise<string> => send(sending.system, api, { target, ...more });
  const sendToDevice = (device: SubscriptionRow | undefined, more: object = {}): Promise<string> =>
    sendTo({ include_subscription_ids: [device?._id ?? nobody()] }, more);
  const ended = (id: string, withinMs = sweptMs): Promise<MessageRow> => sending.system.ended(id, withinMs);
  const arrivals = ({ token }: SubscriptionRow): number => sending.apns.log.tally("address").get(token) ?? 0;
  const aDevice = async (over: Partial<SubscriptionRow> = {}): Promise<SubscriptionRow> => {
    const [device] = await seedDevices(sending.system, 1, over);
    return device as SubscriptionRow; // one was made
  };

  const ask = async (method: string, path: string, body?: object): Promise<Record<string, unknown>> => {
    const headers = { authorization: `Bearer ${sending.system.token}`, "content-type": "application/json" };
    const reply = await fetch(`${api.url}${path}`, { method, headers, body: JSON.stringify(body) ?? null });
    expect(reply.status).to.be.within(200, 201);
    return (await reply.json()) as Record<string, unknown>; // every reply is an object
  };

  /** A user with one device. */
  const aPerson = async (aliases: Record<string, string> = {}) => {
    const { system } = sending;
    const user = aUser({ tenant_id: system.tenantId, app_id: system.app._id, aliases });
    await seed(system.db, { users: [user] });
    return { user, device: await aDevice({ user_id: user._id, external_id: user.external_id }) };
  };

  it("reaches the devices of external ids, and nobody else", async () => {
    const [wanted, other] = [await aPerson(), await aPerson()];
    const message = await ended(await sendTo({ include_external_ids: [wanted.user.external_id] }));
    expect(message.status).to.equal("completed");
    expect(message.counts).to.include({ targeted: 1, sent: 1, failed: 0 });
    expect([arrivals(wanted.device), arrivals(other.device)]).to.deep.equal([1, 0]);
    const [delivery] = await deliveriesOf(sending.system, message._id);
    expect(delivery).to.include({ status: "sent", attempts: 1, external_id: wanted.user.external_id });
  });

  it("reaches the devices of aliases", async () => {
    const wanted = await aPerson({ crm: `crm-${aToken()}` });
    const message = await ended(await sendTo({ include_aliases: { crm: [wanted.user.aliases["crm"]] } }));
    expect(message.counts).to.include({ targeted: 1, sent: 1 });
    expect(arrivals(wanted.device)).to.equal(1);
  });

  it("reaches a device once, however many of its names the target lists", async () => {
    const { user, device } = await aPerson({ crm: `crm-${aToken()}` });
    const message = await ended(
      await sendTo({
        include_external_ids: [user.external_id],
        include_subscription_ids: [device._id],
        include_aliases: { crm: [user.aliases["crm"]], user_id: [user._id] },
      }),
    );
    expect(message.counts).to.include({ targeted: 1, sent: 1 });
    expect(arrivals(device)).to.equal(1);
  });

  it("reaches everyone who is subscribed with `all`", async () => {
    const [present, gone] = [await aDevice(), await aDevice({ status: "unsubscribed" })];
    const everyone = { app_id: sending.system.app._id, status: "subscribed" };
    const count = await sending.system.db.collection("subscriptions").countDocuments(everyone);
    const message = await ended(await sendTo({ all: true }));
    expect(message.counts).to.include({ targeted: count, sent: count, suppressed: 0 });
    expect([arrivals(present), arrivals(gone)]).to.deep.equal([1, 0]);
  });

  it("reaches test devices only, when asked to", async () => {
    const [tester, customer] = [await aDevice({ test_device: true }), await aDevice()];
    const message = await ended(await sendTo({ all: true, test_devices_only: true }));
    expect(message.counts).to.include({ targeted: 1, sent: 1 });
    expect([arrivals(tester), arrivals(customer)]).to.deep.equal([1, 0]);
  });

  it("speaks a subscription's own language, else the one that its user has at the time of sending", async () => {
    const [theirs, own] = [aToken(), aToken()];
    const externalId = `ext-${aToken()}`;
    const app = `/v1/apps/${sending.system.app._id}`;
    const { subscriptions } = await ask("POST", `${app}/users`, {
      external_id: externalId,
      language: "en",
      subscriptions: [
        { channel: "ios_push", token: theirs },
        { channel: "ios_push", token: own, language: "fr" },
      ],
    });
    expect((subscriptions as { language: unknown }[]).map(({ language }) => language)).to.have.members([null, "fr"]);
    const contents = { en: "Hello", de: "Hallo", fr: "Salut" };
    const heard = async (): Promise<unknown[]> => {
      sending.apns.log.clear();
      await ended(await sendTo({ include_external_ids: [externalId] }, { contents }));
      const texts = new Map(sending.apns.log.page().map(({ address, body }) => [address, JSON.parse(body) as Alert]));
      return [theirs, own].map((address) => texts.get(address)?.aps.alert.body);
    };
    expect(await heard()).to.deep.equal(["Hello", "Salut"]);
    await ask("PATCH", `${app}/users/by/external_id/${externalId}`, { language: "de-CH" });
    expect(await heard()).to.deep.equal(["Hallo", "Salut"]);
    const [device] = (subscriptions as { id: string; language: unknown }[]).filter(({ language }) => language === "fr");
    await ask("PATCH", `${app}/subscriptions/${device?.id}`, { language: null });
    expect(await heard()).to.deep.equal(["Hallo", "Hallo"]);
  });

  it("sends at `send_after`, and not before", async () => {
    // How soon afterwards is measured by `make bench`. That it is due at its very time: apiserver/messages/notifications.
    const device = await aDevice();
    const dueMs = Date.now() + 1_500;
    const message = await ended(await sendToDevice(device, { send_after: new Date(dueMs).toISOString() }));
    const [delivery] = await deliveriesOf(sending.system, message._id);
    const lateMs = (delivery?.sent_at?.getTime() ?? 0) - dueMs;
    expect(message.scheduled_for?.getTime()).to.equal(dueMs);
    expect(arrivals(device)).to.equal(1);
    expect(lateMs).to.be.at.least(0);
  });

  it("does not send a scheduled message that was cancelled", async () => {
    const [cancelled, later] = [await aDevice(), await aDevice()];
    const dueMs = Date.now() + 4_000; // time enough to cancel it
    const id = await sendToDevice(cancelled, { send_after: new Date(dueMs).toISOString() });
    await ask("DELETE", `/v1/notifications/${id}?app_id=${sending.system.app._id}`);
    await ended(await sendToDevice(later, { send_after: new Date(dueMs + 500).toISOString() }));
    expect((await ended(id)).status).to.equal("cancelled");
    expect([arrivals(cancelled), arrivals(later)]).to.deep.equal([0, 1]);
    expect(await deliveriesOf(sending.system, id)).to.have.length(0);
  });

  it("says of which recipients it is not known whether the provider took them", async () => {
    const [lost, known] = [await aDevice(), await aDevice()];
    sending.apns.script({ reset_every: 1 });
    const message = await ended(await sendToDevice(lost));
    expect(message).to.include({ status: "completed", error: null });
    expect(message.counts).to.include({ targeted: 1, sent: 1, uncertain: 1 });
    sending.apns.script({});
    expect((await ended(await sendToDevice(known))).counts).to.include({ targeted: 1, sent: 1, uncertain: 0 });
    await until(() => events.about(message._id).some(({ type }) => type === "message.completed"), sweptMs);
    const completed = events.about(message._id).find(({ type }) => type === "message.completed");
    expect(completed?.data["counts"]).to.include({ sent: 1, uncertain: 1 });
  });

  it("ends as failed, with the most frequent error, a message that reached nobody", async () => {
    const gone = await aDevice({ token: aToken("dead") });
    sending.apns.script({ answers: [{ address_prefix: "dead", status: 410, reason: "Unregistered" }] });
    const message = await ended(await sendToDevice(gone));
    expect(message).to.include({ status: "failed", error: "TOKEN_UNREGISTERED" });
    expect(message.counts).to.include({ targeted: 1, sent: 0, failed: 1 });
  });

  it("completes a message that has no recipients", async () => {
    const message = await ended(await sendToDevice(undefined));
    expect(message.status).to.equal("completed");
    expect(message.counts).to.include({ targeted: 0, sent: 0 });
  });

  it("tries again what the provider could not take, within the ttl", async () => {
    const device = await aDevice({ token: aToken("b0ff") });
    const busy = { address_prefix: "b0ff", status: 503, reason: "ServiceUnavailable", retry_after_seconds: 1 };
    sending.apns.script({ answers: [{ ...busy, times: 1 }] });
    const message = await ended(await sendToDevice(device, { ttl: 300 }), 28_000);
    expect(message).to.include({ status: "completed" });
    expect(message.counts).to.include({ targeted: 1, sent: 1 });
    const [delivery] = await deliveriesOf(sending.system, message._id);
    expect(delivery).to.include({ status: "sent", attempts: 2 });
    expect(arrivals(device)).to.equal(1);
  });

  it("expires what could not be sent within the ttl", async () => {
    const device = await aDevice({ token: aToken("b0ff") });
    const busy = { address_prefix: "b0ff", status: 503, reason: "ServiceUnavailable", retry_after_seconds: 90 };
    sending.apns.script({ answers: [busy] });
    const message = await ended(await sendToDevice(device, { ttl: 60 }));
    expect(message).to.include({ status: "failed", error: "EXPIRED" });
    expect(message.counts).to.include({ targeted: 1, sent: 0, expired: 1 });
    expect((await deliveriesOf(sending.system, message._id))[0]).to.include({ status: "expired", attempts: 1 });
  });

  it("gives back what it reserved of its organisation's first day and did not use", async () => {
    const used = async (): Promise<number> => {
      const row = await sending.system.db.collection("usage").findOne({ period: "first-day" });
      return Number(row?.["messages"] ?? 0);
    };
    const [gone, known] = [await aDevice({ token: aToken("dead") }), await aDevice()];
    sending.apns.script({ answers: [{ address_prefix: "dead", status: 410, reason: "Unregistered" }] });
    const unsettled = { unsettled: { $exists: true } };
    const messages = sending.system.db.collection<MessageRow>("messages");
    await until(async () => (await messages.countDocuments(unsettled)) === 0, sweptMs); // those of the tests before
    const before = await used();
    const message = await ended(await sendTo({ include_subscription_ids: [gone._id, known._id] }));
    expect(message.reserved).to.deep.equal({ periods: ["first-day"], count: 2 });
    await until(async () => (await used()) === before + 1, sweptMs);
  });

  it("publishes an event for each thing that happens to it", async () => {
    const [gone, known] = [await aDevice({ token: aToken("dead") }), await aDevice()];
    sending.apns.script({ answers: [{ address_prefix: "dead", status: 410, reason: "Unregistered" }] });
    const id = await sendTo({ include_subscription_ids: [gone._id, known._id] });
    await until(() => events.about(id).length >= 4, sweptMs);
    const kinds = events.about(id).map(({ type }) => type);
    expect(kinds).to.have.members(["message.queued", "delivery.sent", "delivery.failed", "message.completed"]);
    const completed = events.about(id).find(({ type }) => type === "message.completed");
    expect(completed?.data["counts"]).to.include({ targeted: 2, sent: 1, failed: 1 });
    const failed = events.about(id).find(({ type }) => type === "delivery.failed");
    expect(failed?.data).to.include({ subscription_id: gone._id, error_code: "TOKEN_UNREGISTERED" });
    const isSettled = async (): Promise<boolean> => {
      const row = await sending.system.db.collection<MessageRow>("messages").findOne({ _id: id });
      return row?.outbox.length === 0 && row.due_at === null;
    };
    await until(isSettled, sweptMs);
  });

  it("keeps nothing of what one says that wants that, and shows it nowhere", async () => {
    const device = await aDevice();
    const secret = `secret ${device._id}`;
    const id = await sendToDevice(device, { contents: { en: secret }, redact_payload: true });
    expect((await ask("GET", `/v1/notifications/${id}`))["content"]).to.deep.equal({});
    const row = await ended(id);
    expect(row).to.deep.include({ status: "completed", content: {} });
    expect(arrivals(device)).to.equal(1);
    expect(JSON.stringify(sending.apns.log.page())).to.include(secret);
    await until(
      () => events.all().some(({ subject_id: of, type }) => of === id && type === "message.completed"),
      sweptMs,
    );
    expect(JSON.stringify(events.all())).to.not.include(secret);
    const at = new Date(Date.now() + 3_600_000).toISOString();
    const later = await sendToDevice(device, { contents: { en: secret }, redact_payload: true, send_after: at });
    expect((await ask("DELETE", `/v1/notifications/${later}`))["content"]).to.deep.equal({});
    expect((await sending.system.db.collection<MessageRow>("messages").findOne({ _id: later }))?.content).to.deep.equal(
      {},
    );
  });

  it("tries one on test devices alone, whatever quiet hours say, and names its campaign", async () => {
    const { app, db } = sending.system;
    const [device, other] = [await aDevice({ test_device: true }), await aDevice()];
    const target = { include_subscription_ids: [device._id, other._id] };
    const quiet_hours = { enabled: true, start: "00:00", end: "23:59", mode: "drop" };
    await ask("PATCH", `/v1/apps/${app._id}/settings`, { quiet_hours });
    const id = await sendTo(target, { test: true, campaign_id: "spring" });
    const row = await ended(id);
    await ask("PATCH", `/v1/apps/${app._id}/settings`, { quiet_hours: null });
    expect(row).to.include({ source: "test", campaign_id: "spring" });
    expect([arrivals(device), arrivals(other)]).to.deep.equal([1, 0]);
    const { data } = (await ask("GET", `/v1/notifications/${id}/deliveries`)) as { data: { campaign_id: string }[] };
    expect(data.map(({ campaign_id }) => campaign_id)).to.deep.equal(["spring"]);
    expect(await db.collection("deliveries").countDocuments({ message_id: id, campaign_id: "spring" })).to.equal(1);
  });
});
