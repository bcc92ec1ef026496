import type { Server } from "node:http";
import { expect } from "chai";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";
import type { TwilioSimulator } from "../../../dev/simulators/twilio.ts";
import { testServers } from "../../support/servers/servers.ts";
import { startFront } from "../../support/system/front.ts";
import {
  deliveriesOf,
  type Sending,
  seedDevices,
  seedPhone,
  send,
  startSending,
} from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const endedMs = 25_000;

describe("a text on its way to a phone and back", () => {
  let sending: Sending;
  let twilio: TwilioSimulator;
  let system: System;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let front: { url: string; server: Server };

  before(async () => {
    const servers = await testServers();
    front = await startFront(() => api.url);
    const env = { HERALD_PUBLIC_URL: front.url };
    sending = await startSending(servers);
    ({ system } = sending);
    twilio = await sending.texts();
    api = await system.start("apiserver", env);
    dispatcher = await system.start("dispatcher", env);
  });

  after(async () => {
    await sending?.close();
    front?.server.close();
  });

  afterEach(() => {
    for (const { script } of Object.values(twilio.channels)) script({});
  });

  const sendTo = async (
    phone: SubscriptionRow,
    more: object = {},
  ): Promise<{ message: MessageRow; delivery: DeliveryRow }> => {
    const target = { include_subscription_ids: [phone._id], channels: [phone.channel] };
    const message = await system.ended(await send(system, api, { target, ...more }), endedMs);
    const [delivery] = await deliveriesOf(system, message._id);
    if (delivery === undefined) throw new Error("no delivery");
    return { message, delivery };
  };

  const deliveryWhen = async (id: string, isSo: (row: DeliveryRow) => boolean): Promise<DeliveryRow> => {
    let row: DeliveryRow | null = null;
    const rows = system.db.collection<DeliveryRow>("deliveries");
    await until(async () => {
      row = await rows.findOne({ _id: id });
      return row !== null && isSo(row);
    }, endedMs);
    return row as unknown as DeliveryRow; // it was just found
  };
  const suppressionsOf = (phone: SubscriptionRow): Promise<SuppressionRow[]> =>
    system.db.collection<SuppressionRow>("suppressions").find({ address: phone.token }).toArray();
  const subscription = (phone: SubscriptionRow) =>
    system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: phone._id });
  const write = (phone: SubscriptionRow, body: string): Promise<void> =>
    twilio.write("sms", { from: phone.token, body, url: `${front.url}/ingress/twilio/${system.app._id}/messages` });
  const bodyTo = (phone: SubscriptionRow): string => {
    const entry = twilio.channels["sms"]?.log.page().findLast(({ address }) => address === phone.token);
    return (JSON.parse(entry?.body ?? "{}") as { Body?: string }).Body ?? "";
  };

  it("is sent with its segments, and delivered when Twilio says so", async () => {
    const { message, delivery } = await sendTo(await seedPhone(system), { contents: { en: "ж".repeat(71) } });
    expect(message.counts).to.include({ targeted: 1, sent: 1, sms_segments: 2 });
    expect(delivery).to.include({ sms_segments: 2, provider: "twilio", attempts: 1 });
    const delivered = await deliveryWhen(delivery._id, ({ status }) => status === "delivered");
    expect(delivered.delivered_at).to.be.instanceOf(Date);
  });

  it("is found undelivered when Twilio says so, and its number becomes invalid", async () => {
    const phone = await seedPhone(system);
    twilio.channels["sms"]?.script({ statuses: ["sent", "undelivered 30005"] });
    const { delivery } = await sendTo(phone);
    const failed = await deliveryWhen(delivery._id, ({ status }) => status === "failed");
    expect(failed).to.include({ error_code: "RECIPIENT_INVALID", provider_code: "30005" });
    await until(async () => (await subscription(phone))?.status === "invalid", endedMs);
  });

  /** The chunk by which a delivery is sent again, which is kept after the delivery, becomes due now. */
  const isDueNow = async (delivery: DeliveryRow): Promise<void> => {
    const waiting = { message_id: delivery.message_id, status: "open", resend_until: { $exists: true } };
    const chunks = system.db.collection("chunks");
    const isDue = { $set: { due_at: new Date() } };
    await until(async () => (await chunks.updateOne(waiting, isDue)).matchedCount === 1, endedMs);
  };
  const receivedBy = (phone: SubscriptionRow): number =>
    twilio.channels["sms"]?.log.page().filter(({ address }) => address === phone.token).length ?? 0;

  it("is sent again when the phone was switched off, within its time, and counts once", async () => {
    const phone = await seedPhone(system);
    twilio.channels["sms"]?.script({ statuses: ["sent", "undelivered 30003"] });
    const { message, delivery } = await sendTo(phone);
    const waiting = await deliveryWhen(delivery._id, ({ status }) => status === "scheduled");
    expect(waiting).to.include({ error_code: "RECIPIENT_UNREACHABLE", provider_code: "30003", attempts: 1 });
    twilio.channels["sms"]?.script({});
    await isDueNow(delivery);
    const delivered = await deliveryWhen(delivery._id, ({ status }) => status === "delivered");
    expect(delivered).to.include({ attempts: 2 }).and.not.have.any.keys("error_code", "failed_at", "scheduled_for");
    expect(receivedBy(phone)).to.equal(2);
    const ended = await system.ended(message._id, endedMs);
    expect(ended).to.deep.include({ status: message.status, completed_at: message.completed_at });
    await until(async () => (await system.ended(message._id, endedMs)).counts.delivered === 1, endedMs);
    expect((await system.ended(message._id, endedMs)).counts).to.include({ targeted: 1, sent: 1, failed: 0 });
    expect(await suppressionsOf(phone)).to.deep.equal([]);
  });

  it("is not sent again after STOP: it has failed then", async () => {
    const phone = await seedPhone(system);
    twilio.channels["sms"]?.script({ statuses: ["sent", "undelivered 30003"] });
    const { message, delivery } = await sendTo(phone);
    await deliveryWhen(delivery._id, ({ status }) => status === "scheduled");
    await write(phone, "STOP");
    await until(async () => (await suppressionsOf(phone)).length > 0, endedMs);
    await isDueNow(delivery);
    const failed = await deliveryWhen(delivery._id, ({ status }) => status === "failed");
    expect(failed).to.include({ provider_code: "30003", attempts: 1 });
    expect(receivedBy(phone)).to.equal(1);
    await until(async () => (await system.ended(message._id, endedMs)).counts.failed === 1, endedMs);
    expect((await system.ended(message._id, endedMs)).counts).to.include({ targeted: 1, sent: 1, suppressed: 0 });
  });

  it("holds no more than 48 of a dispatcher's places while its provider is slow, and delays nobody's push", async () => {
    const phones = await Promise.all(Array.from({ length: 100 }, () => seedPhone(system)));
    const before = twilio.channels["sms"]?.log.counts().received ?? 0;
    twilio.channels["sms"]?.script({ delay_ms: 5_000, statuses: [] }); // three rounds of them: far longer than a push takes
    const target = { include_subscription_ids: phones.map(({ _id }) => _id), channels: ["sms"] };
    const slow = await send(system, api, { target });
    await until(() => (twilio.channels["sms"]?.log.counts().received ?? 0) > before, endedMs);
    const [device] = await seedDevices(system, 1);
    const push = await send(system, api, { target: { include_subscription_ids: [device?._id] } });
    expect(await gaugeOf("herald_unsaved_recipients"), "places held").to.be.within(1, 49); // 48, and the push
    expect((await system.ended(push, endedMs)).counts.sent).to.equal(1);
    const { status } = (await system.db.collection<MessageRow>("messages").findOne({ _id: slow })) ?? {};
    expect(status, "of the texts, when the push has ended").to.equal("processing");
    twilio.channels["sms"]?.script({});
    expect((await system.ended(slow, endedMs)).counts.sent).to.equal(100);
  });

  const gaugeOf = async (name: string): Promise<number> => {
    const page = await (await fetch(`${dispatcher.healthUrl}/metrics`)).text();
    return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\d+)`, "m").exec(page)?.[1] ?? Number.NaN);
  };

  it("has a short link that leads on, and whose click is the delivery's", async () => {
    const phone = await seedPhone(system);
    const target = "https://shop.example/orders/4711?utm_source=sms";
    const { delivery } = await sendTo(phone, { contents: { en: `See ${target}.` } });
    const [link = ""] = /http\S+(?=\.$)/.exec(bodyTo(phone)) ?? [];
    expect(link).to.match(new RegExp(`^${front.url}/l/[A-Za-z0-9]{11}$`));
    const reply = await fetch(link, { redirect: "manual" });
    expect([reply.status, reply.headers.get("location")]).to.deep.equal([302, target]);
    const clicked = await deliveryWhen(delivery._id, ({ status }) => status === "clicked");
    expect(clicked).to.include({ clicked_url: target });
    expect((await fetch(`${front.url}/l/00000000000`, { redirect: "manual" })).status).to.equal(404);
  });

  /** Its subscription is resumed before its suppression is removed: a START was followed once both are done. */
  const lifted = (phone: SubscriptionRow): Promise<void> =>
    until(
      async () => (await subscription(phone))?.status === "subscribed" && (await suppressionsOf(phone)).length === 0,
      endedMs,
    );

  it("stays unsent after STOP, and is sent again after START", async () => {
    const phone = await seedPhone(system);
    await write(phone, "STOP");
    await until(async () => (await suppressionsOf(phone)).length > 0, endedMs);
    const [entry] = await suppressionsOf(phone);
    expect(entry).to.include({ channel: "sms", reason: "carrier_opt_out", source: "keyword" });
    await until(async () => (await subscription(phone))?.status === "unsubscribed", endedMs);
    await write(phone, "START");
    await lifted(phone);
    expect((await sendTo(phone)).delivery.status).to.be.oneOf(["sent", "delivered"]);
  });

  it("that Twilio refuses for an opt-out suppresses its number", async () => {
    const phone = await seedPhone(system);
    twilio.channels["sms"]?.script({ answers: [{ address_prefix: phone.token, status: 400, reason: "21610" }] });
    const { delivery } = await sendTo(phone);
    expect(delivery).to.include({ status: "failed", error_code: "RECIPIENT_OPTED_OUT", provider_code: "21610" });
    await until(async () => (await suppressionsOf(phone)).length > 0, endedMs);
    expect((await suppressionsOf(phone))[0]).to.include({ reason: "unsubscribe", source: "provider" });
    await until(async () => (await subscription(phone))?.status === "unsubscribed", endedMs);
    await write(phone, "START");
    await lifted(phone);
  });

  it("is read by RCS, with one template for its card", async () => {
    const phone = await seedPhone(system, "rcs");
    twilio.channels["rcs"]?.script({ statuses: ["sent", "delivered", "read"] });
    const card = { rcs_card: { title: { en: "Order 4711" }, media_url: "https://shop.example/a.jpg" } };
    const { delivery } = await sendTo(phone, { ...card, contents: undefined });
    await deliveryWhen(delivery._id, ({ status }) => status === "opened");
    await sendTo(await seedPhone(system, "rcs"), { ...card, contents: undefined });
    expect(await system.db.collection("content_templates").countDocuments()).to.equal(1);
  });

  it("says that it went by SMS to a phone that does not take RCS", async () => {
    const phone = await seedPhone(system, "rcs");
    twilio.withoutRcs.add(phone.token);
    const { delivery } = await sendTo(phone, { contents: { en: "Hello" }, rcs_fallback_text: { en: "Hello" } });
    const delivered = await deliveryWhen(delivery._id, ({ status }) => status === "delivered");
    expect(delivered).to.include({ channel: "rcs", provider_code: "FALLBACK_SMS" });
  });

  it("moves nothing by a callback that somebody else made", async () => {
    const { delivery } = await sendTo(await seedPhone(system));
    await deliveryWhen(delivery._id, ({ status }) => status === "delivered");
    const url = `${front.url}/ingress/twilio/${system.app._id}/status/${delivery._id}`;
    const body = new URLSearchParams({ MessageSid: "SM1", MessageStatus: "read" });
    const reply = await fetch(url, { method: "POST", body, headers: { "x-twilio-signature": "AAAA" } });
    expect(reply.status).to.equal(403);
  });
});
