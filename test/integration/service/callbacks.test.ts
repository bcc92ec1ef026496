import { expect } from "chai";
import { callbackUrl } from "#core/channels/callbacks.ts";
import { newId } from "#core/domain/ids.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { providerCertificates } from "#core/storage/service/provider-certificates.ts";
import type { SuppressionRow } from "#core/storage/suppressions/suppressions.ts";
import { issuedBy } from "../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../dev/simulators/kit/control.ts";
import { aMail, aSentMessage, seedMails } from "../../support/callbacks/deliveries.ts";
import { sendgridKeys, snsTopic } from "../../support/callbacks/signed.ts";
import { aSubscription, seed } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { counted, deliveriesOf, type Sending, send, startMail, startSending } from "../../support/system/sending.ts";
import type { SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

describe("callbacks of providers", () => {
  const keys = sendgridKeys();
  const arn = "arn:aws:sns:xx-nowhere-1:123456789012:mails"; // of a region that no name server knows
  let sending: Sending;
  let mail: Simulator;
  let api: SystemProgram;
  let dispatcher: SystemProgram;

  before(async () => {
    sending = await startSending(await testServers());
    const { db, app, start } = sending.system;
    mail = await startMail(sending.system);
    const tells = {
      "channels.email.sendgrid": { public_key: keys.publicKey },
      "channels.email.ses": { topic_arn: arn },
    };
    await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: tells });
    [api, dispatcher] = await Promise.all([start("apiserver"), start("dispatcher")]);
  });
  after(async () => {
    await sending?.close();
    await mail?.stop();
  });
  afterEach(() => mail.script({}));

  const ofApp = () => ({ tenant_id: sending.system.tenantId, app_id: sending.system.app._id });
  const deliveries = () => sending.system.db.collection<DeliveryRow>("deliveries");
  const messages = () => sending.system.db.collection<MessageRow>("messages");
  const statusOf = async (id: string) => (await deliveries().findOne({ _id: id }))?.status;
  const event = (id: string, kind: string, second = 0, more: object = {}) => ({
    event: kind,
    timestamp: Math.floor(Date.now() / 1_000) + second,
    "herald-delivery": id,
    ...more,
  });
  const url = () => callbackUrl(api.url, "sendgrid", sending.system.app._id);
  /** As a provider does: again, while the service cannot take it now. */
  const tell = async (events: readonly object[]): Promise<number> => {
    const { headers, body } = keys.signed(events);
    let status = 503;
    await until(async () => {
      status = (await fetch(url(), { method: "POST", headers, body })).status;
      return status !== 503;
    }, 60_000);
    return status;
  };

  /** Receipts of one delivery that came at once leave the counters to be made anew, a minute later. */
  const areCounted = async (messageId: string, wanted: Counts): Promise<boolean> => {
    const message = await messages().findOne({ _id: messageId });
    const areRight = Object.entries(wanted).every(([key, value]) => Reflect.get(message?.counts ?? {}, key) === value);
    return areRight || message?.recount === true;
  };

  it("move deliveries, in whichever order they come", async () => {
    const { messageId, mails } = await seedMails(sending.system.db, ofApp(), 2);
    const ids = mails.map(({ delivery }) => delivery._id);
    const kinds = ["processed", "delivered", "open", "click"];
    for (const kind of kinds) expect(await tell([event(ids[0] ?? "", kind, kinds.indexOf(kind))])).to.equal(200);
    for (const kind of kinds.toReversed()) await tell([event(ids[1] ?? "", kind, kinds.indexOf(kind))]);
    const members = ["delivered_at", "opened_at", "clicked_at"];
    const arrived = { $and: members.map((member) => ({ [member]: { $exists: true } })), status: "clicked" as const };
    await until(async () => (await deliveries().countDocuments({ _id: { $in: ids }, ...arrived })) === 2);
    await until(() => areCounted(messageId, { delivered: 2, opened: 2, clicked: 2 }));
  });

  it("find a delivery that is stored after them", async () => {
    const { delivery, subscription } = aMail(ofApp());
    expect(await tell([event(delivery._id, "delivered")])).to.equal(200);
    await until(async () => (await counted([dispatcher], "herald_callback_items_total")) > 0);
    await seed(sending.system.db, { subscriptions: [subscription] });
    await messages().insertOne(aSentMessage(ofApp(), delivery.message_id, 1));
    await deliveries().insertOne(delivery);
    await until(async () => (await statusOf(delivery._id)) === "delivered");
  });

  it("that come again change nothing more", async () => {
    const { messageId, mails } = await seedMails(sending.system.db, ofApp(), 1);
    const id = mails[0]?.delivery._id ?? "";
    const { headers, body } = keys.signed([event(id, "spamreport")]);
    for (let n = 0; n < 3; n++) expect((await fetch(url(), { method: "POST", headers, body })).status).to.equal(200);
    await until(async () => (await statusOf(id)) === "complained");
    await tell([event(id, "open", 1)]);
    await until(async () => (await deliveries().findOne({ _id: id }))?.opened_at !== undefined);
    expect(await statusOf(id)).to.equal("complained");
    await until(() => areCounted(messageId, { complained: 1, opened: 1 }));
  });

  it("stop a send that is under way for those who opt out", async () => {
    const { system } = sending;
    const addresses = Array.from({ length: 60 }, (_, n) => `slow${n}@mail.example`);
    const people = addresses.map((token) => aSubscription({ ...ofApp(), channel: "email", token }));
    await seed(system.db, { subscriptions: people });
    const before = await seedMails(system.db, ofApp(), 1);
    mail.script({ delay_ms: 1_000 });
    const target = { include_subscription_ids: people.map(({ _id }) => _id), channels: ["email"] };
    const messageId = await send(system, api, { target, email_subject: "Hello", email_body: "<p>Hello</p>" });
    await until(() => mail.log.counts().received > 0);
    const [old] = before.mails;
    const ends = people.map(({ token, _id }) => ({
      updateOne: {
        filter: { _id: old?.delivery._id ?? "" },
        update: { $set: { subscription_id: _id, address_masked: `s•••@${token.split("@")[1]}` } },
      },
    }));
    const last = ends.at(-1);
    if (last !== undefined) await deliveries().bulkWrite([last]);
    expect(await tell([event(old?.delivery._id ?? "", "unsubscribe")])).to.equal(200);
    await system.ended(messageId, 60_000);
    const rows = await deliveriesOf(system, messageId);
    const ofLast = rows.find(({ subscription_id: id }) => id === people.at(-1)?._id);
    expect(ofLast).to.include({ status: "suppressed", suppression_reason: "suppression_unsubscribe" });
    expect(rows.filter(({ status }) => status === "sent")).to.have.length(59);
    const entries = system.db.collection<SuppressionRow>("suppressions");
    expect(await entries.findOne({ address: "slow59@mail.example" })).to.include({ reason: "unsubscribe" });
    const estimate = await fetch(`${api.url}/v1/notifications/estimate`, {
      method: "POST",
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      body: JSON.stringify({ app_id: system.app._id, target }),
    });
    expect(await estimate.json()).to.deep.include({ recipients: 59, by_channel: { email: 59 } });
  });

  it("are all applied, and counted once, when a dispatcher is killed in the middle", async () => {
    const count = 400;
    const { messageId, mails } = await seedMails(sending.system.db, ofApp(), count);
    const left = mails.map(({ delivery }) => delivery._id);
    const posted = left.map(async (id, n) => {
      await new Promise((resolve) => setTimeout(resolve, n * 5));
      return tell([event(id, "delivered"), event(id, "open", 1)]);
    });
    const opened = () => deliveries().countDocuments({ message_id: messageId, status: "opened" });
    await until(async () => (await opened()) > 20, 15_000, 20);
    await dispatcher.kill();
    expect((await Promise.all(posted)).every((status) => status === 200)).to.equal(true);
    await dispatcher.restart();
    await until(async () => (await opened()) === count, 60_000); // what was in hand comes again after 30 s
    // no need to wait for quiet, also after the last changes, which may be counted only now
    const atOnce = { due_at: new Date(), updated_at: new Date(0), counted_at: new Date(0) };
    await until(async () => {
      await messages().updateOne({ _id: messageId, recount: true }, { $set: atOnce });
      const { counts, recount } = (await messages().findOne({ _id: messageId })) ?? {};
      return recount !== true && counts?.delivered === count && counts.opened === count;
    }, 30_000);
  });

  it("that are signed by others are refused, and cost those of the provider nothing", async () => {
    const { mails } = await seedMails(sending.system.db, ofApp(), 1);
    const id = mails[0]?.delivery._id ?? "";
    const forged = sendgridKeys().signed([event(id, "bounce")]);
    const statuses = await Promise.all(
      Array.from({ length: 50 }, async () => (await fetch(url(), { method: "POST", ...forged })).status),
    );
    expect(new Set(statuses)).to.deep.equal(new Set([403]));
    expect(await tell([event(id, "delivered")])).to.equal(200);
    await until(async () => (await statusOf(id)) === "delivered");
    expect(await counted([api], "herald_callbacks_total")).to.be.greaterThan(50);
  });

  it("of Amazon SES wait for their certificate, and are refused from then on when it did not sign them", async () => {
    const { db, app } = sending.system;
    const topic = snsTopic(arn, issuedBy(sending.authority, "sns.amazonaws.com"));
    const [{ mails }, forger] = [await seedMails(db, ofApp(), 3), snsTopic(arn)];
    const [early = "", late = "", forged = ""] = mails.map(({ delivery }) => delivery._id);
    const post = async (id: string, of = topic): Promise<number> => {
      const headers = [{ name: "Message-ID", value: `<${id}@shop.example>` }];
      const mail = { timestamp: new Date().toISOString(), destination: ["a@example.com"], headers };
      const signed = of.notification({ eventType: "Delivery", mail, delivery: { timestamp: mail.timestamp } });
      return (await fetch(callbackUrl(api.url, "ses", app._id), { method: "POST", ...signed })).status;
    };
    expect(await post(early)).to.equal(200);
    expect(await post(forged, forger)).to.equal(200);
    await providerCertificates(db).keep(topic.certificateUrl, topic.certificate, new Date());
    await until(async () => (await post(forged, forger)) === 403);
    expect(await post(late)).to.equal(200);
    await until(async () => (await statusOf(late)) === "delivered");
    await until(async () => (await statusOf(early)) === "delivered");
    await until(async () => (await refusedBy(dispatcher)) > 0);
    expect(await statusOf(forged)).to.equal("sent");
    await receivesMails(topic, forger);
  });

  /** Mails of people that Amazon SES received go into a conversation, once, also as base64; those of a forger do not. */
  const receivesMails = async (topic: ReturnType<typeof snsTopic>, forger: typeof topic): Promise<void> => {
    const { db, app } = sending.system;
    const from = `ann${newId("user", new Date())}@example.test`.toLowerCase();
    const mimeOf = (id: string, text: string): string =>
      [`From: Ann <${from}>`, "To: help@shop.test", `Message-ID: <${id}-${from}>`, `References: <0-${from}>`]
        .concat("Subject: Colours", "Content-Type: text/plain; charset=iso-8859-1", "", text)
        .join("\r\n");
    const post = async (mime: string, encoding: "UTF8" | "BASE64", of = topic): Promise<number> => {
      const mail = { timestamp: new Date().toISOString(), messageId: "0100-ses", source: from };
      const receipt = { virusVerdict: { status: "PASS" }, action: { type: "SNS", encoding } };
      const content = encoding === "UTF8" ? mime : Buffer.from(mime, "latin1").toString("base64");
      const signed = of.notification({ notificationType: "Received", mail, receipt, content });
      return (await fetch(callbackUrl(api.url, "ses", app._id, "inbound"), { method: "POST", ...signed })).status;
    };
    expect(await post(mimeOf("3", "forged"), "UTF8", forger)).to.equal(403);
    const [first, second] = [mimeOf("1", "In red?"), mimeOf("2", "Oder gr\u00fcn?")];
    for (const [mime, encoding] of [
      [first, "UTF8"],
      [second, "BASE64"],
      [first, "UTF8"],
    ] as const)
      expect(await post(mime, encoding)).to.equal(200);
    const kept = () => db.collection<ConversationMessageRow>("conversation_messages").find(ofMails).toArray();
    const ofMails = { app_id: app._id, provider_message_id: { $in: ["1", "2", "3"].map((id) => `${id}-${from}`) } };
    await until(async () => (await kept()).length === 2);
    const all = await kept();
    expect(all.map(({ text, provider }) => `${provider}: ${text}`)).to.have.members([
      "ses: In red?",
      "ses: Oder grün?",
    ]);
    expect(new Set(all.map((one) => one.conversation_id)).size).to.equal(1);
  };

  const refusedBy = async ({ healthUrl }: SystemProgram): Promise<number> => {
    const page = await (await fetch(`${healthUrl}/metrics`)).text();
    return Number(/herald_callback_items_total\{[^}]*kind="refused"[^}]*\} (\d+)/.exec(page)?.[1] ?? 0);
  };

  it("are no part of the interface: nobody learns of an app by them", async () => {
    const reply = await fetch(callbackUrl(api.url, "sendgrid", newId("app", new Date())), {
      method: "POST",
      body: "{}",
    });
    expect(reply.status).to.equal(404);
  });
});
