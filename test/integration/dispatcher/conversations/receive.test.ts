import { expect } from "chai";
import { type Inbound, inboundMessage, said } from "#core/channels/kit/inbound.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { hourMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import type { Receipt } from "#core/domain/messages/receipts.ts";
import { Unavailable } from "#core/errors.ts";
import { eventTypes } from "#core/schema/events/catalogue.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { parser } from "#core/schema/json/parser.ts";
import type { ContactChannel } from "#core/schema/vocabulary/channels.ts";
import { type Arrivals, arrivals } from "#core/storage/conversations/arrivals.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "#core/storage/conversations/message-row.ts";
import { sentReplies } from "#core/storage/conversations/sent-replies.ts";
import { answerable } from "#core/storage/messages/answered.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { contacts } from "#core/storage/people/contacts.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { answeredBy } from "../../../../dispatcher/conversations/answered.ts";
import { sendersOf } from "../../../../dispatcher/conversations/contacts.ts";
import { receiveMessages } from "../../../../dispatcher/conversations/receive.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { handOut } from "../../../support/work/hand-out.ts";

const of = { tenantId: "ten_1", appId: "app_1" };
let made = 0;

/** A number that nobody has written from. */
const aNumber = (): string => `+4915${String(process.pid).padStart(7, "0")}${made++}`.slice(0, 16);

const wrote = (address: string, id: string, over: Partial<Parameters<typeof inboundMessage>[0]> = {}): Inbound =>
  inboundMessage({
    providerId: `${address} ${id}`,
    address,
    sender: "106540352242922",
    at: new Date(),
    content: said("text", id),
    ...over,
  });

describe("messages of people on their way into conversations", () => {
  const db = testDatabase("conversations");
  const told: EventEnvelope[] = [];
  const clicks: Receipt[] = [];
  beforeEach(() => void [told.splice(0), clicks.splice(0)]);
  const clock = { now: () => new Date() };

  /** A dispatcher as far as these messages go, with a store that may fail. */
  const aDispatcher = (change: (store: Arrivals) => Partial<Arrivals> = () => ({})) => {
    const whole = arrivals(db(), clock);
    const store = { ...whole, ...change(whole) };
    const receive = receiveMessages({
      arrivals: store,
      contactsOf: sendersOf({ contacts: contacts(db()), publish: () => undefined }),
      answeredBy: answeredBy({
        stored: store.stored,
        deliveries: answerable(db()),
        replies: sentReplies(db()),
        apply: async (_, receipts) => clicks.push(...receipts),
      }),
      beginSessions: async () => undefined,
      publish: async (_, events) => {
        told.push(...events);
        return true;
      },
      clock,
    });
    type How = { isRepeated?: boolean; channel?: ContactChannel };
    return (messages: readonly Inbound[], { isRepeated = false, channel = "whatsapp" }: How = {}): Promise<void> =>
      receive(
        of,
        messages.map((message) => ({ of, provider: "whatsapp", channel, message })),
        { isRepeated, rules: settingsOf({}).conversations },
      );
  };

  const conversationsWith = (address: string) =>
    db()
      .collection<ConversationRow>(conversationCollection.name)
      .find({ contact_address: address })
      .sort({ _id: 1 })
      .toArray();
  const messagesOf = (id: string) =>
    db()
      .collection<ConversationMessageRow>(conversationMessageCollection.name)
      .find({ conversation_id: id })
      .sort({ position: 1 })
      .toArray();
  const people = () => db().collection<SubscriptionRow>(subscriptionCollection.name);
  const namesTold = () => told.map(({ data }) => data["name"]);

  it("make a stranger a user with a subscription, and open a conversation", async () => {
    const address = aNumber();
    const at = new Date(Date.now() - 5_000);
    await aDispatcher()([wrote(address, "hello", { at, name: "Ada", rawId: "wamid.1" })]);
    const [conversation, ...others] = await conversationsWith(address);
    expect(others).to.deep.equal([]);
    expect(conversation).to.deep.include({
      channel: "whatsapp",
      sender_address: "106540352242922",
      status: "open",
      contact_name: "Ada",
      unread_count: 1,
      message_count: 1,
      waiting_since: at,
      last_inbound_at: at,
      session_expires_at: new Date(at.getTime() + 24 * hourMs),
      session_origin: "user_message",
    });
    const subscription = await people().findOne({ _id: conversation?.subscription_id ?? "" });
    expect(subscription).to.include({ channel: "whatsapp", token: address, status: "subscribed" });
    expect(subscription?.outbox.map(({ type }) => type)).to.deep.equal(["subscription.created"]);
    const user = await db()
      .collection<UserRow>(userCollection.name)
      .findOne({ _id: subscription?.user_id ?? "" });
    expect(user?.outbox.map(({ type }) => type)).to.deep.equal(["user.created"]);
    const [message] = await messagesOf(conversation?._id ?? "");
    expect(message).to.include({ type: "text", text: "hello", direction: "inbound", provider_raw_id: "wamid.1" });
    expect(namesTold()).to.deep.equal(["hs.conversation.opened", "hs.conversation.message_received"]);
    for (const { type, data } of told) parser(eventTypes[type].data)(data);
  });

  it("are 50 in one conversation when they come at once to three dispatchers, one of which is killed", async () => {
    const address = aNumber();
    const all = Array.from({ length: 50 }, (_, n) => wrote(address, `${n}`));
    const dying = aDispatcher(() => ({ keep: () => Promise.reject(new Unavailable("killed")) })); // it counts them before
    const others = [aDispatcher(), aDispatcher()];
    const rest: Inbound[] = [];
    const again = (n: number, some: Inbound[]) => handOut(others, n, some, { isRepeated: true });
    await Promise.all(
      all.map(async (one, n) => {
        if (n % 3 < 2) await again(n, [one]);
        else await dying([one]).catch(() => rest.push(one));
      }),
    );
    expect(rest.length).to.be.greaterThan(0);
    await Promise.all(rest.map((one, n) => again(n, [one])));
    const [conversation, ...more] = await conversationsWith(address);
    expect(more).to.deep.equal([]);
    expect(conversation).to.include({ unread_count: 50, message_count: 50 });
    const texts = (await messagesOf(conversation?._id ?? "")).map(({ text }) => Number(text));
    expect(texts.sort((a, b) => a - b)).to.deep.equal(all.map((_, n) => n));
    const ids = (name: string) => new Set(told.flatMap(({ id, data }) => (data["name"] === name ? [id] : []))).size;
    expect([ids("hs.conversation.message_received"), ids("hs.conversation.opened")]).to.deep.equal([50, 1]);
  });

  it("are one when the same one comes fifty times at once, and later again", async () => {
    const address = aNumber();
    const one = wrote(address, "once");
    const [first, second] = [aDispatcher(), aDispatcher()];
    await Promise.all(Array.from({ length: 50 }, (_, n) => handOut([first, second], n, [one, one])));
    await aDispatcher()([one]);
    const [conversation, ...others] = await conversationsWith(address);
    expect(others).to.deep.equal([]);
    expect(conversation).to.include({ unread_count: 1, message_count: 1, seq: 1 });
    expect(await messagesOf(conversation?._id ?? "")).to.have.length(1);
    expect(new Set(told.map(({ id }) => id)).size).to.equal(2);
  });

  const steps = ["at", "stored", "open", "change", "keep"] as const;
  for (const step of steps)
    for (const isDone of [false, true])
      it(`are counted and told once when a dispatcher is killed ${isDone ? "after" : "before"} "${step}"`, async () => {
        const address = aNumber();
        await aDispatcher()([wrote(address, "before")]);
        told.length = 0;
        const dying = aDispatcher((store) => ({
          [step]: async (...given: unknown[]) => {
            if (isDone) await Reflect.apply(store[step], store, given);
            throw new Unavailable("a killed program");
          },
        }));
        const coming = [wrote(address, "one"), wrote(address, "two"), wrote(aNumber(), "another's")];
        expect(await dying(coming).catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
        await aDispatcher()(coming, { isRepeated: true });
        const [conversation] = await conversationsWith(address);
        expect(conversation).to.include({ unread_count: 3, message_count: 3 });
        expect(await messagesOf(conversation?._id ?? "")).to.have.length(3);
        expect(new Set(told.map(({ id }) => id)).size).to.equal(4);
      });

  it("are told although the store does not say that it wrote them, as where a bulk was given up and made again", async () => {
    const address = aNumber();
    await aDispatcher()([wrote(address, "before")]);
    told.length = 0;
    const unsure = aDispatcher(({ open, change }) => ({
      open: async (made) => (await open(made), new Set(made.map(({ _id }) => _id))),
      change: async (changes) => (await change(changes)) && false,
    }));
    await unsure([wrote(address, "one"), wrote(address, "two"), wrote(aNumber(), "a stranger's")]);
    const received = told.filter(({ data }) => data["name"] === "hs.conversation.message_received");
    expect(new Set(received.map(({ id }) => id)).size).to.equal(3);
    expect((await conversationsWith(address))[0]).to.include({ unread_count: 3, message_count: 3 });
  });

  const close = async (address: string, closedAt: Date): Promise<void> => {
    const change = { status: "closed" as const, closed_at: closedAt, unread_count: 0 };
    await db()
      .collection<ConversationRow>(conversationCollection.name)
      .updateOne({ contact_address: address }, { $set: change, $inc: { seq: 1 } });
  };

  it("open a conversation again that was closed today, and another one after that", async () => {
    const address = aNumber();
    await aDispatcher()([wrote(address, "one")]);
    await close(address, new Date());
    await aDispatcher()([wrote(address, "two")]);
    const [again, ...none] = await conversationsWith(address);
    expect(none).to.deep.equal([]);
    expect(again).to.include({ status: "open", closed_at: null, unread_count: 1, message_count: 2 });
    expect(told.at(-2)?.data).to.deep.nested.include({
      name: "hs.conversation.updated",
      "properties.changes": { status: ["closed", "open"] },
    });
    await close(address, new Date(Date.now() - 25 * hourMs));
    await Promise.all(Array.from({ length: 5 }, (_, n) => aDispatcher()([wrote(address, `three ${n}`)])));
    const [old, other, ...more] = await conversationsWith(address);
    expect(more).to.deep.equal([]);
    expect(old).to.include({ status: "closed", message_count: 2 }).and.not.have.property("place");
    expect(other).to.include({ status: "open", message_count: 5 });
  });

  it("are followed by a notice when they are STOP or START", async () => {
    const address = aNumber();
    await aDispatcher()([wrote(address, "STOP")], { channel: "sms" });
    const [conversation] = await conversationsWith(address);
    const messages = await messagesOf(conversation?._id ?? "");
    expect(messages.map(({ type, text }) => [type, text])).to.deep.equal([
      ["text", "STOP"],
      ["system", "The contact opted out"],
    ]);
    expect(conversation).to.include({ unread_count: 1, message_count: 2, session_expires_at: null });
    expect(await people().findOne({ token: address })).to.include({ status_reason: "carrier_opt_out" });
    expect(namesTold()).to.deep.equal(["hs.conversation.opened", "hs.conversation.message_received"]);
  });

  it("say which message they answer", async () => {
    const address = aNumber();
    const question = wrote(address, "question");
    await aDispatcher()([question]);
    const answer = wrote(address, "answer", { replyTo: question.providerId });
    const reaction = wrote(address, "reaction", {
      content: said("reaction", null, { reaction: { messageId: question.providerId, emoji: "👍" } }),
    });
    await aDispatcher()([answer, reaction, wrote(address, "of nothing", { replyTo: "unknown" })]);
    const [conversation] = await conversationsWith(address);
    const [first, ...others] = await messagesOf(conversation?._id ?? "");
    expect(others.map((one) => one.reply_to_id)).to.deep.equal([first?._id, first?._id, undefined]);
    expect(clicks).to.deep.equal([]);
  });

  it("say which notification they answer, whose delivery is clicked by a button", async () => {
    const address = aNumber();
    await aDispatcher()([wrote(address, "hello")]);
    const [conversation] = await conversationsWith(address);
    const { user_id, subscription_id } = conversation as ConversationRow;
    const rows = db().collection<DeliveryRow>(deliveryCollection.name);
    const sent = { channel: "whatsapp", user_id, subscription_id, provider_message_id: `sent to ${address}` } as const;
    const { delivery } = aMail({ tenant_id: of.tenantId, app_id: of.appId }, sent);
    const foreign = aMail({ tenant_id: "ten_2", app_id: "app_2" }, { ...sent, _id: newId("delivery", new Date()) });
    await rows.insertMany([delivery, foreign.delivery]);
    const choice = said("button_reply", "Sure", { button: { id: "yes", title: "Sure" } });
    const replyTo = sent.provider_message_id;
    await aDispatcher()([wrote(address, "text", { replyTo }), wrote(address, "button", { replyTo, content: choice })]);
    const [, ...answers] = await messagesOf(conversation?._id ?? "");
    expect(answers.map((one) => one.reply_to_id)).to.deep.equal([delivery._id, delivery._id]);
    expect(clicks).to.have.length(1);
    expect(clicks[0]).to.include({ kind: "clicked", deliveryId: delivery._id, buttonId: "yes", machine: false });
  });

  it("of two numbers of an app, and of two channels, are in conversations of their own", async () => {
    const address = aNumber();
    await aDispatcher()([wrote(address, "one"), wrote(address, "two", { sender: "other" })]);
    await aDispatcher()([wrote(address, "three")], { channel: "sms" });
    const found = await conversationsWith(address);
    expect(found.map(({ channel, sender_address }) => `${channel} ${sender_address}`).sort()).to.deep.equal([
      "sms 106540352242922",
      "whatsapp 106540352242922",
      "whatsapp other",
    ]);
    expect(new Set(found.map(({ user_id }) => user_id)).size).to.equal(1); // a number is one person's on all channels
  });

  it("of more than fifty of one person at once are all there", async () => {
    const address = aNumber();
    await aDispatcher()(Array.from({ length: 120 }, (_, n) => wrote(address, `${n}`)));
    const [conversation] = await conversationsWith(address);
    expect(conversation).to.include({ unread_count: 120, message_count: 120 });
    expect(await messagesOf(conversation?._id ?? "")).to.have.length(120);
  });
});
