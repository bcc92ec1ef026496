import { mkdtemp, rm } from "node:fs/promises";
import type { Server } from "node:http";
import { join } from "node:path";
import { expect } from "chai";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { testDir } from "../../../dev/files/paths.ts";
import type { TwilioSimulator } from "../../../dev/simulators/twilio.ts";
import { testServers } from "../../support/servers/servers.ts";
import { startFront } from "../../support/system/front.ts";
import { deliveriesOf, type Sending, seedPhone, send, startSending } from "../../support/system/sending.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const endsMs = 60_000;
const template = { whatsapp_template: { name: "order_update", language: "en", body_params: ["Ada", "4711"] } };

describe("WhatsApp over Twilio, from what a person writes to what they read", () => {
  let sending: Sending;
  let twilio: TwilioSimulator;
  let system: System;
  let api: SystemProgram;
  let front: { url: string; server: Server };
  let filesDir = "";
  let numbers = 0;

  before(async () => {
    const servers = await testServers();
    front = await startFront(() => api.url);
    filesDir = await mkdtemp(join(testDir, "whatsapp-over-twilio-"));
    const env = { HERALD_PUBLIC_URL: front.url, HERALD_FILES_DIR: filesDir };
    sending = await startSending(servers);
    ({ system } = sending);
    twilio = await sending.texts();
    [api] = await Promise.all([system.start("apiserver", env), system.start("dispatcher", env)]);
  });
  after(async () => {
    await sending?.close();
    front?.server.close();
    await rm(filesDir, { recursive: true, force: true });
  });
  afterEach(() => twilio.channels["whatsapp"]?.script({}));

  const inboundUrl = (): string => `${front.url}/ingress/twilio-whatsapp/${system.app._id}/messages`;
  const aNumber = (): string => `+49152${String(++numbers).padStart(8, "0")}`;
  const write = (from: string, body: string, more: Record<string, string> = {}): Promise<void> =>
    twilio.write("whatsapp", { from, body, url: inboundUrl(), more });
  const conversationWith = (from: string): Promise<ConversationRow | null> =>
    system.db.collection<ConversationRow>("conversations").findOne({ contact_address: from });
  const messagesOf = (of: string): Promise<ConversationMessageRow[]> =>
    system.db
      .collection<ConversationMessageRow>("conversation_messages")
      .find({ conversation_id: of })
      .sort({ position: 1 })
      .toArray();
  /** Their conversation, once so many messages in it are stored and their files are settled. */
  const talkWith = async (from: string, count: number) => {
    await until(async () => {
      const row = await conversationWith(from);
      const stored = row === null ? [] : await messagesOf(row._id);
      return stored.length === count && stored.every(({ media }) => media?.[0]?.status !== "waiting");
    }, endsMs);
    const row = (await conversationWith(from)) ?? expect.fail("no conversation");
    return { row, messages: await messagesOf(row._id) };
  };
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/conversations${path}`, {
      method,
      headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }; // checked by who asks
  };
  const deliveryWhen = async (messageId: string, isSo: (row: DeliveryRow) => boolean): Promise<DeliveryRow> => {
    let row: DeliveryRow | undefined;
    await until(async () => {
      [row] = await deliveriesOf(system, messageId);
      return row !== undefined && isSo(row);
    }, endsMs);
    return row ?? expect.fail("no delivery");
  };
  const sentTo = (address: string): Record<string, string> => {
    const entry = twilio.channels["whatsapp"]?.log.page().findLast((one) => one.address === address);
    return JSON.parse(entry?.body ?? "{}") as Record<string, string>; // written by the simulator
  };
  /** Answers in a conversation, and gives the delivery once it is delivered. */
  const answer = async (id: string, body: object): Promise<DeliveryRow> => {
    const reply = await ask("POST", `/${id}/messages`, body);
    expect(reply.status, JSON.stringify(reply.body)).to.equal(202);
    return deliveryWhen(String(reply.body["message_id"]), ({ status }) => status === "delivered");
  };
  const subscription = (id: string): Promise<SubscriptionRow | null> =>
    system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id: id });

  it("answers a stranger who wrote, until they have read it and tapped a button of it", async () => {
    const from = aNumber();
    const file = twilio.keepFile("whatsapp", { mimeType: "image/jpeg", content: "a picture" });
    const media = { NumMedia: "1", MediaUrl0: file, MediaContentType0: "image/jpeg" };
    await write(from, "Does it come in red?", { ...media, ReferralSourceId: "1", ReferralSourceType: "ad" });
    const { row, messages } = await talkWith(from, 1);
    expect(row).to.include({ channel: "whatsapp", sender_address: "+15005550026", unread_count: 1 });
    expect(row.contact_name).to.equal(`Person ${from.slice(-4)}`);
    expect(messages[0]).to.include({ type: "media", text: "Does it come in red?", provider: "twilio-whatsapp" });
    expect(messages[0]?.media?.[0]).to.include({ status: "stored", mime_type: "image/jpeg", size_bytes: 9 });
    const shown = await ask("GET", `/${row._id}`);
    expect(shown.body["can_reply"]).to.equal("free_form");
    expect(shown.body["session"]).to.include({ open: true });
    expect((await subscription(row.subscription_id))?.ad_clicked_at).to.be.instanceOf(Date);

    twilio.channels["whatsapp"]?.script({ statuses: ["sent", "delivered", "read"] });
    const reply = await ask("POST", `/${row._id}/messages`, {
      text: "Which one?",
      whatsapp_interactive: { type: "button", buttons: [{ id: "r", title: "Red" }] },
    });
    expect(reply.status, JSON.stringify(reply.body)).to.equal(202);
    const delivery = await deliveryWhen(String(reply.body["message_id"]), ({ status }) => status === "opened");
    expect(delivery).to.include({ channel: "whatsapp", provider: "twilio" });
    expect(sentTo(from)).to.include({ To: `whatsapp:${from}`, From: "whatsapp:+15005550026" });
    expect(twilio.templates.has(sentTo(from)["ContentSid"] ?? ""), "made of what it says").to.equal(true);

    const tapped = {
      ButtonText: "Red",
      ButtonPayload: "r",
      OriginalRepliedMessageSid: delivery.provider_message_id ?? "",
    };
    await write(from, "Red", tapped);
    const talk = await talkWith(from, 3);
    expect(talk.messages.at(-1)).to.deep.include({
      type: "button_reply",
      button: { id: "r", title: "Red" },
      reply_to_id: String(reply.body["id"]),
    });
  });

  it("sends texts, files, places and lists within the session", async () => {
    const from = aNumber();
    await write(from, "Hello");
    const { _id } = (await talkWith(from, 1)).row;
    await answer(_id, { text: "Hello to you" });
    expect(sentTo(from)).to.include({ Body: "Hello to you" });
    await answer(_id, { media: { type: "image", url: "https://shop.example/a.jpg" }, text: "Red" });
    expect(sentTo(from)).to.include({ MediaUrl: "https://shop.example/a.jpg", Body: "Red" });
    await answer(_id, { location: { latitude: 52.5, longitude: 13.4, name: "Shop", address: "Hauptstr. 1" } });
    expect(sentTo(from)).to.include({ Body: "Shop", PersistentAction: "geo:52.500000,13.400000|Shop, Hauptstr. 1" });
    const rows = [{ id: "a", title: "Small" }];
    await answer(_id, {
      text: "Size?",
      whatsapp_interactive: { type: "list", list: { button: "Sizes", sections: [{ rows }] } },
    });
    expect(sentTo(from)).to.have.property("ContentSid");
  });

  for (const [field, body] of [
    ["reply_to_id", { text: "Yes", reply_to_id: "cvm_01JDKQ4WSM8V5CRA2E9MHX3TNB" }],
    ["reaction.message_id", { reaction: { message_id: "cvm_01JDKQ4WSM8V5CRA2E9MHX3TNB", emoji: "👍" } }],
    ["whatsapp_media.filename", { media: { type: "document", url: "https://shop.example/a.pdf", filename: "a.pdf" } }],
    [
      "whatsapp_interactive.header",
      { text: "?", whatsapp_interactive: { type: "button", header: "H", buttons: [{ id: "r", title: "Red" }] } },
    ],
    ["contents.en", { text: "a".repeat(1_601) }],
  ] as [string, object][])
    it(`refuses what Twilio does not carry: ${field}`, async () => {
      const from = aNumber();
      await write(from, "Hello");
      const { row } = await talkWith(from, 1);
      const { status, body: said } = await ask("POST", `/${row._id}/messages`, body);
      expect([status, JSON.stringify(said).includes(`"${field}"`)], JSON.stringify(said)).to.deep.equal([400, true]);
      expect((await messagesOf(row._id)).length).to.equal(1);
    });

  it("takes templates alone outside of the session, by the name and language that they have at Twilio", async () => {
    const sid = `HX${"a".repeat(32)}`;
    twilio.approved.set("en order_update", sid);
    twilio.approved.set("en order_update_2", `HX${"b".repeat(32)}`);
    twilio.approved.set("de order_update", `HX${"c".repeat(32)}`);
    const to = aNumber();
    const first = (message: object) => ask("POST", "", { channel: "whatsapp", contact_address: to, message });
    const refused = await first({ text: "Hello" });
    expect([refused.status, refused.body["error"]]).to.deep.include(409);
    expect(JSON.stringify(refused.body)).to.include("HS_SESSION_CLOSED").and.include('"requires":"template"');
    const header = { type: "text", text: "Order" };
    const button_params = [{ index: 0, sub_type: "url", value: "x" }];
    const made = await first({ whatsapp_template: { ...template.whatsapp_template, header, button_params } });
    expect(made.status, JSON.stringify(made.body)).to.equal(201);
    const { messages } = await talkWith(to, 1);
    await deliveryWhen(messages[0]?.message_id ?? "", ({ status }) => status === "delivered");
    expect(sentTo(to)).to.include({ ContentSid: sid, ContentVariables: '{"1":"Ada","2":"4711","3":"Order","4":"x"}' });
    const unknown = { whatsapp_template: { name: "no_such", language: "en" } };
    const { body } = await ask("POST", `/${messages[0]?.conversation_id}/messages`, unknown);
    const failed = await deliveryWhen(String(body["message_id"]), ({ error_code: code }) => code !== undefined);
    expect(failed).to.include({ error_code: "TEMPLATE_REJECTED", attempts: 1 });
  });

  it("closes a session that Twilio calls closed (63016), and fails the reply with it", async () => {
    const phone = await seedPhone(system, "whatsapp");
    const inAnHour = new Date(Date.now() + 3_600_000);
    const people = system.db.collection<SubscriptionRow>("subscriptions");
    await people.updateOne({ _id: phone._id }, { $set: { session_expires_at: inAnHour } });
    const target = { include_subscription_ids: [phone._id], channels: ["whatsapp"] };
    const id = await send(system, api, { target, contents: { en: "Hello" } });
    const errored = await deliveryWhen(id, ({ error_code: code }) => code !== undefined);
    expect(errored).to.include({ error_code: "SESSION_CLOSED", provider_code: "63016" });
    await until(async () => (await subscription(phone._id))?.session_expires_at === null, endsMs);
  });

  it("follows STOP, and says so in the conversation", async () => {
    const from = aNumber();
    await write(from, "STOP", { OptOutType: "STOP" });
    const { row, messages } = await talkWith(from, 2);
    expect(messages.map(({ type }) => type)).to.deep.equal(["text", "system"]);
    expect((await subscription(row.subscription_id))?.status).to.equal("unsubscribed");
    expect((await ask("GET", `/${row._id}`)).body["can_reply"]).to.equal("none");
  });

  it("believes nobody without Twilio's signature, and reads nothing that another number was sent", async () => {
    const [forger, stray, from] = [aNumber(), aNumber(), aNumber()];
    const body = new URLSearchParams({ MessageSid: "SM1", From: `whatsapp:${forger}`, Body: "Hello" });
    const headers = { "x-twilio-signature": "AAAA" };
    expect((await fetch(inboundUrl(), { method: "POST", body, headers })).status).to.equal(403);
    await write(stray, "Hello", { To: "whatsapp:+15005550027" });
    await write(from, "Hello");
    await talkWith(from, 1);
    expect(await conversationWith(stray)).to.equal(null);
    expect(await conversationWith(forger)).to.equal(null);
  });
});
