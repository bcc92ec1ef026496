import { mkdtemp, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { startWhatsapp, type WhatsappSimulator } from "../../../dev/simulators/whatsapp.ts";
import { allAccounts, aSubscription, seed, testKeyRing } from "../../support/rows/fixtures.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { counted, deliveriesOf, send } from "../../support/system/sending.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

const endsMs = 25_000; // a hint that is lost is published again after 10 s
const template = { whatsapp_template: { name: "order_update", language: "en_US", body_params: ["Ada", "4711"] } };

describe("WhatsApp, from what a person writes to what they read", () => {
  const credentials = testCredentials();
  let meta: WhatsappSimulator;
  let system: System;
  let api: SystemProgram;
  let dispatcher: SystemProgram;
  let filesDir = "";
  let numbers = 0;

  before(async () => {
    meta = await startWhatsapp({ port: 0, tls: credentials.tls, account: credentials.whatsapp });
    const apns = { url: "https://127.0.0.1:1", credentials };
    filesDir = await mkdtemp(join(testDir, "whatsapp-"));
    const env = { HERALD_META_URL: meta.url, HERALD_FILES_DIR: filesDir };
    system = await startSystem({ ...(await testServers()), apns, env });
    await useWhatsapp(system);
    [api, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    await meta.connect(callbackUrl());
  });
  after(async () => {
    await system?.stop();
    await meta?.stop();
    await rm(filesDir, { recursive: true, force: true });
  });
  afterEach(() => meta.script({}));

  const useWhatsapp = async ({ db, app }: System): Promise<void> => {
    const { seal } = keyRing(testKeyRing);
    const { phoneNumberId, accessToken, appSecret, verifyToken } = credentials.whatsapp;
    const sealed = (text: string, member: string) => seal(text, `apps/${app._id}/whatsapp.${member}`);
    const whatsapp = {
      ...allAccounts(app._id).whatsapp,
      phone_number_id: phoneNumberId,
      access_token: sealed(accessToken, "access_token"),
      app_secret: sealed(appSecret, "app_secret"),
      verify_token: sealed(verifyToken, "verify_token"),
      messages_per_second: 4,
    };
    await db.collection<AppRow>("apps").updateOne({ _id: app._id }, { $set: { "channels.whatsapp": whatsapp } });
  };
  const callbackUrl = (): string =>
    `${api.url}/ingress/whatsapp/${system.app._id}/${credentials.whatsapp.phoneNumberId}`;

  const aPerson = async (): Promise<SubscriptionRow> => {
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const token = `+49151${String(++numbers).padStart(8, "0")}`;
    const row = aSubscription({ ...of, channel: "whatsapp", token, user_id: newId("user", new Date()) });
    await seed(system.db, { subscriptions: [row] });
    return row;
  };
  const stored = async ({ _id }: SubscriptionRow): Promise<SubscriptionRow> =>
    (await system.db.collection<SubscriptionRow>("subscriptions").findOne({ _id })) ?? expect.fail("it is gone");
  const hasSession = async (to: SubscriptionRow): Promise<boolean> =>
    (await stored(to)).session_expires_at instanceof Date;

  /** Sends to one person and gives their delivery. */
  const sendTo = async (to: SubscriptionRow, content: object): Promise<DeliveryRow> => {
    const target = { include_subscription_ids: [to._id], channels: ["whatsapp"] };
    const id = await send(system, api, { target, ...content });
    await system.ended(id, endsMs);
    const [delivery] = await deliveriesOf(system, id);
    return delivery ?? expect.fail("no delivery");
  };
  const shown = ({ _id }: DeliveryRow): Promise<DeliveryRow | null> =>
    system.db.collection<DeliveryRow>("deliveries").findOne({ _id });
  const reaches = (delivery: DeliveryRow, status: DeliveryRow["status"]): Promise<void> =>
    until(async () => (await shown(delivery))?.status === status, endsMs);

  it("keeps a text from somebody who never wrote, before Meta is asked", async () => {
    const person = await aPerson();
    const delivery = await sendTo(person, {});
    expect(delivery).to.include({ status: "suppressed", suppression_reason: "session_closed", attempts: 0 });
    expect(meta.log.tally("address").get(person.token)).to.equal(undefined);
  });

  it("sends them a template, and follows it until they read it", async () => {
    const delivery = await sendTo(await aPerson(), template);
    expect(delivery).to.include({ channel: "whatsapp", provider: "meta" });
    await reaches(delivery, "opened");
  });

  it("can be cancelled while it waits for the account's pace", async () => {
    const rows = () => system.db.collection<MessageRow>("messages");
    const [many, last] = [await Promise.all(Array.from({ length: 12 }, aPerson)), await aPerson()];
    const to = (some: readonly SubscriptionRow[]) =>
      send(system, api, {
        target: { include_subscription_ids: some.map(({ _id }) => _id), channels: ["whatsapp"] },
        ...template,
      });
    const first = await to(many);
    await until(async () => meta.log.tally("address").has(many[0]?.token ?? ""), endsMs);
    const id = await to([last]);
    await until(async () => (await rows().findOne({ _id: id }))?.waits === true, endsMs);
    const reply = await fetch(`${api.url}/v1/notifications/${id}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${system.token}` },
    });
    expect([reply.status, ((await reply.json()) as { status: string }).status]).to.deep.equal([200, "cancelled"]);
    await system.ended(first, endsMs);
    await sendTo(await aPerson(), template); // what waited before it had its turn
    expect(meta.log.tally("address").get(last.token)).to.equal(undefined);
  });

  it("comes to the same when the statuses come the wrong way round", async () => {
    meta.script({ statuses: ["read", "delivered", "sent"] });
    const delivery = await sendTo(await aPerson(), template);
    await meta.callbacks.make([]);
    await reaches(delivery, "opened");
  });

  it("sends a text once they have written", async () => {
    const person = await aPerson();
    await meta.write(person.token, "Hello?");
    await until(() => hasSession(person), endsMs);
    const delivery = await sendTo(person, {});
    expect(delivery.suppression_reason).to.equal(undefined);
    await reaches(delivery, "opened");
  });

  it("puts what a stranger writes into a conversation, with its file, until the person is deleted", async () => {
    const from = `+49151${String(++numbers).padStart(8, "0")}`;
    const id = meta.keepFile({ mimeType: "image/jpeg", content: "a picture" });
    const gone = { type: "image", image: { id: "404", mime_type: "image/png" } };
    await meta.write(from, { type: "image", image: { id, mime_type: "image/jpeg", caption: "Mine" } });
    await meta.write(from, gone);
    const messages = () =>
      system.db
        .collection<ConversationMessageRow>("conversation_messages")
        .aggregate<ConversationMessageRow>([{ $match: { user_id: userId } }, { $sort: { position: 1 } }])
        .toArray();
    const conversations = system.db.collection<ConversationRow>("conversations");
    await until(async () => (await conversations.findOne({ contact_address: from }))?.message_count === 2, endsMs);
    const conversation = (await conversations.findOne({ contact_address: from })) ?? expect.fail("none");
    const userId = conversation.user_id;
    expect(conversation).to.include({ contact_name: `Person ${from.slice(-4)}`, unread_count: 2, status: "open" });
    const isSettled = (all: ConversationMessageRow[]) => all.every(({ media = [] }) => media[0]?.status !== "waiting");
    await until(async () => (await messages()).length === 2 && isSettled(await messages()), endsMs);
    const files = (await messages()).flatMap(({ media = [] }) => media); // in any order: Meta tells whole seconds
    const [first, second] = [files.find(({ key }) => key !== undefined), files.find(({ key }) => key === undefined)];
    expect(first)
      .to.include({ status: "stored", mime_type: "image/jpeg", size_bytes: 9 })
      .and.not.have.property("source");
    expect(second)
      .to.include({ type: "image", status: "failed", problem: "not_found" })
      .and.not.have.property("source");
    const path = join(filesDir, first?.key ?? "");
    expect(await readFile(path, "utf8")).to.equal("a picture");
    const person = { tenant_id: system.tenantId, app_id: system.app._id, _id: conversation.subscription_id };
    expect(await hasSession(person as SubscriptionRow)).to.equal(true); // of whom only the id is asked
    const { status } = await fetch(`${api.url}/v1/apps/${system.app._id}/users/by/user_id/${userId}`, {
      method: "DELETE",
      headers: { authorization: `Bearer ${system.token}` },
    });
    expect(status).to.be.oneOf([200, 202, 204]);
    await until(async () => (await conversations.findOne({ contact_address: from })) === null, endsMs);
    await until(async () => (await messages()).length === 0, endsMs);
    await until(async () => (await readFile(path, "utf8").catch(() => "gone")) === "gone", endsMs); // after what names it
  });

  it("answers a person who wrote, over REST, until they have read it", async () => {
    const from = `+49151${String(++numbers).padStart(8, "0")}`;
    await meta.write(from, { type: "text", text: { body: "Does it come in red?" }, referral: { source_type: "ad" } });
    const conversations = system.db.collection<ConversationRow>("conversations");
    await until(async () => (await conversations.findOne({ contact_address: from })) !== null, endsMs);
    const { _id, subscription_id } = (await conversations.findOne({ contact_address: from })) ?? expect.fail("none");
    const person = { _id: subscription_id } as SubscriptionRow; // of whom only the id is asked
    await until(() => hasSession(person), endsMs);
    const ask = async (method: string, body?: object): Promise<{ status: number; body: Record<string, unknown> }> => {
      const reply = await fetch(`${api.url}/v1/apps/${system.app._id}/conversations/${_id}/messages`, {
        method,
        headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return { status: reply.status, body: (await reply.json()) as Record<string, unknown> }; // checked below
    };
    const answer = await ask("POST", { text: "Yes, {{ really }}" });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    const id = String(answer.body["message_id"]);
    await system.ended(id, endsMs);
    const [delivery] = await deliveriesOf(system, id);
    await reaches(delivery ?? expect.fail("no delivery"), "opened");
    const { body } = await ask("GET");
    const [last] = body["data"] as [{ status: string; text: string }]; // the latest first
    expect(last).to.include({ status: "read", text: "Yes, {{ really }}" });
    const hours = async () => (Number((await stored(person)).session_expires_at) - Date.now()) / 3_600_000;
    await until(async () => (await hours()) > 71, endsMs); // moved once the answer is stored, perhaps after its receipts
    expect(await hours()).to.be.below(72); // an advertisement led them here
    expect(meta.log.tally("address").get(from)).to.equal(1);
  });

  it("believes nobody without Meta's signature", async () => {
    const person = await aPerson();
    const message = { from: person.token.slice(1), id: "wamid.1", timestamp: "1", type: "text", text: { body: "Hi" } };
    const metadata = { phone_number_id: credentials.whatsapp.phoneNumberId };
    const value = { metadata, messages: [message] };
    const body = JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
    for (const signature of ["", `sha256=${"0".repeat(64)}`]) {
      const headers = { "content-type": "application/json", "x-hub-signature-256": signature };
      const { status } = await fetch(callbackUrl(), { method: "POST", headers, body });
      expect(status).to.equal(403);
    }
    const refused = await fetch(`${callbackUrl()}?hub.mode=subscribe&hub.verify_token=wrong&hub.challenge=1`);
    expect(refused.status).to.equal(403);
  });

  for (const { when, script } of [
    { when: "as it answers", script: { answers: [{ status: 400, reason: "131047" }] } },
    { when: "as it reports later", script: { statuses: ["failed:131047"] } },
  ])
    it(`closes a session that Meta calls closed ${when}`, async () => {
      const person = await aPerson();
      await meta.write(person.token, "Hello?");
      await until(() => hasSession(person), endsMs);
      meta.script(script);
      const delivery = await sendTo(person, {});
      await reaches(delivery, "errored");
      expect(await shown(delivery)).to.include({ error_code: "SESSION_CLOSED", provider_code: "131047" });
      await until(async () => !(await hasSession(person)), endsMs);
      expect((await sendTo(person, {})).suppression_reason).to.equal("session_closed");
    });

  for (const [when, script] of [
    ["at once", { answers: [{ status: 400, reason: "131026" }] }],
    ["later", { statuses: ["sent", "failed:131026"] }],
  ] as [string, object][])
    it(`invalidates a number on the third day that nobody can be reached at, as Meta says ${when}`, async () => {
      const person = await aPerson();
      const days = [1, 2].map((n) => new Date(Date.now() - n * 86_400_000));
      for (const known of [[], days]) {
        const people = system.db.collection<SubscriptionRow>("subscriptions");
        await people.updateOne({ _id: person._id }, { $push: { unreachable: { $each: known } } });
        meta.script(script);
        const delivery = await sendTo(person, template);
        await reaches(delivery, "failed");
        await until(async () => ((await stored(person)).unreachable ?? []).length > known.length, endsMs);
        if (known.length === 0) expect((await stored(person)).status).to.equal("subscribed");
      }
      await until(async () => (await stored(person)).status === "invalid", endsMs);
    });

  it("sends nothing more to somebody who says STOP, and goes on when they say START", async () => {
    const person = await aPerson();
    await meta.write(person.token, "Stop");
    await until(async () => (await stored(person)).status === "unsubscribed", endsMs);
    const target = { include_subscription_ids: [person._id], channels: ["whatsapp"] };
    const message = await system.ended(await send(system, api, { target, ...template }), endsMs);
    expect(message.counts).to.include({ targeted: 0 });
    await meta.write(person.token, "START");
    await until(async () => (await stored(person)).status === "subscribed", endsMs);
    expect((await sendTo(person, template)).suppression_reason).to.equal(undefined);
  });

  it("is sent to so many a second as its account takes, however many dispatchers there are", async () => {
    const both = [dispatcher, await system.start("dispatcher")];
    const partitions = () => Promise.all(both.map((one) => counted([one], "herald_webhook_partitions")));
    await until(async () => (await partitions()).every((n) => n === 8), endsMs); // they know of each other
    const sentBy = () => Promise.all(both.map((one) => counted([one], "herald_deliveries_total")));
    const people = await Promise.all(Array.from({ length: 20 }, aPerson));
    const before = await sentBy();
    const target = ({ _id }: SubscriptionRow) => ({ include_subscription_ids: [_id], channels: ["whatsapp"] });
    const begunMs = Date.now();
    const ids = await Promise.all(people.map((one) => send(system, api, { target: target(one), ...template })));
    await Promise.all(ids.map((id) => system.ended(id, endsMs)));
    const after = await sentBy();
    const haveBoth = after.every((count, n) => count > (before[n] ?? 0));
    expect(haveBoth, "both sent").to.equal(true);
    const tokens = new Set(people.map(({ token }) => token));
    const arrived = meta.log.page().filter(({ address }) => tokens.has(address)); // receipts name whole seconds only
    const sentMs = arrived.map(({ at }) => Date.parse(at));
    expect(sentMs).to.have.length(20);
    const mostEarlyMs = 20; // what clocks and timers round
    const leastMs = ((20 / 2 - 1) / (4 / 2)) * 1_000; // each has half of the rate and begins at once
    expect(Math.max(...sentMs) - begunMs, "of 20 at four a second by both").to.be.at.least(leastMs - mostEarlyMs);
  });
});
