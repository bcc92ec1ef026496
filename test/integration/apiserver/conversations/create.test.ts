import { expect } from "chai";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { ReplyRow } from "#core/storage/service/replies.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";

let made = 0;
const aNumber = (): string => `+4916${String(process.pid).padStart(7, "0")}${made++}`.slice(0, 16);

const aMail = (): string => `ann${process.pid}-${made++}@example.test`;

describe("a conversation that an app begins", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "conversation-begins", api_rps: 1_000 } });
  const of = () => ({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/conversations${path}`, {
      token: tenant.token,
      headers,
      ...(body !== undefined && { body }),
    });
  const create = (body: object, key?: string) => call("POST", "", body, key ? { "Idempotency-Key": key } : {});
  const rows = () => site.db.collection<ConversationRow>("conversations");
  const template = { whatsapp_template: { name: "order_update", language: "en_US" } };

  it("is with a stranger, pending until they answer, also when the request is repeated", async () => {
    const address = aNumber();
    const body = { channel: "whatsapp", contact_address: address, message: template, tags: ["new"], priority: "high" };
    const answers = [await create(body, `c-${address}`), await create(body, `c-${address}`)];
    const [{ status, body: shown }] = answers as [(typeof answers)[number]];
    expect(status, JSON.stringify(shown)).to.equal(201);
    expect(shown).to.deep.include({
      status: "pending",
      contact_address: address,
      tags: ["new"],
      priority: "high",
      message_count: 1,
      first_response_at: null,
    });
    expect(shown["last_message"]).to.include({ direction: "outbound", type: "template", status: "queued" });
    expect(answers.map((one) => one.body["id"])).to.deep.equal([shown["id"], shown["id"]]);
    expect(await rows().countDocuments({ contact_address: address })).to.equal(1);
    const person = await site.db.collection<SubscriptionRow>("subscriptions").findOne({ token: address, ...of() });
    const sent = site.db.collection<MessageRow>("messages");
    expect(await sent.countDocuments({ "target.include_subscription_ids": person?._id ?? "" })).to.equal(1);
  });

  it("tells that it was opened, and each change with what was before", async () => {
    const address = aNumber();
    const { body } = await create({ channel: "sms", contact_address: address, message: { text: "Hello" } });
    await call("POST", `/${body.id}/assign`, { assignee: { type: "account", id: "ada" } });
    await call("PATCH", `/${body.id}`, { status: "closed", priority: "low" });
    await call("PATCH", `/${body.id}`, { priority: "low" }); // changes nothing
    const stored = await rows().findOne({ _id: body.id }); // no dispatcher has made the stream of events
    const told = stored?.outbox.map(({ data }) => {
      const { cause, seq, changes } = data["properties"] as Record<string, unknown>; // as each of these has
      return [data["name"], cause, seq, changes];
    });
    const ada = { type: "account", id: "ada", name: null };
    expect(told).to.deep.equal([
      ["hs.conversation.opened", "api_key", 1, undefined],
      ["hs.conversation.assigned", "api_key", 2, { assignee: [null, ada] }],
      ["hs.conversation.closed", "api_key", 3, { status: ["pending", "closed"], priority: ["normal", "low"] }],
    ]);
  });

  it("goes on where there is one, with what else is said of it", async () => {
    const { row, person } = await seedConversation(site.db, of());
    const { status, body } = await create({
      channel: "whatsapp",
      sender_address: row.sender_address,
      subscription_id: person._id,
      message: { text: "We are back" },
      assignee: { type: "account", id: "ada" },
    });
    expect([status, body["id"]], JSON.stringify(body)).to.deep.equal([200, row._id]);
    expect(body).to.include({ status: "open", message_count: 2, waiting_since: null });
    expect(body["assignee"]).to.include({ id: "ada" });
  });

  it("takes the place of one that was closed", async () => {
    const { row, person } = await seedConversation(site.db, of(), {
      conversation: { status: "closed", closed_at: new Date() },
    });
    const { status, body } = await create({
      channel: "whatsapp",
      subscription_id: person._id,
      message: { text: "One more thing" },
    });
    expect([status, body["status"]]).to.deep.equal([201, "pending"]);
    expect(await rows().findOne({ _id: row._id })).to.not.have.property("place");
  });

  it("is one when it is begun ten times at once, with ten messages", async () => {
    const address = aNumber();
    const all = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        create({ channel: "sms", contact_address: address, message: { text: `${n}` } }),
      ),
    );
    const done = all.filter(({ status }) => status < 300);
    expect(all.filter(({ status }) => status >= 300 && status !== 409)).to.deep.equal([]); // 409: it lost five times
    expect(new Set(done.map(({ body }) => body["id"])).size).to.equal(1);
    const messages = site.db.collection<ConversationMessageRow>("conversation_messages");
    expect(await messages.countDocuments({ conversation_id: done[0]?.body.id ?? "" })).to.equal(done.length);
  });

  it("is there before it is said in it, and gone on with by a repeat of whoever was cut off", async () => {
    const messages = site.db.collection<ConversationMessageRow>("conversation_messages");
    const sent = site.db.collection<MessageRow>("messages");
    for (const [channel, address, message] of [
      ["sms", aNumber(), { text: "Hello" }],
      ["email", aMail(), { subject: "Hello", text: "There" }],
    ] as const) {
      const body = { channel, contact_address: address, message };
      const key = `cut-${address}`;
      const { body: shown } = await create(body, key);
      const first = await messages.findOne({ conversation_id: shown["id"] });
      for (const isStored of [true, false]) {
        await site.db
          .collection<ReplyRow>("idempotent_replies")
          .updateMany({ app_id: tenant.app._id }, { $set: { reply: null, held_until: new Date(0) } });
        await sent.deleteOne({ _id: first?.message_id ?? "" });
        if (!isStored) await messages.deleteOne({ _id: first?._id ?? "" });
        const again = await create(body, key);
        expect([again.status, again.body["id"]], JSON.stringify(again.body)).to.deep.equal([201, shown["id"]]);
        const found = await messages.find({ conversation_id: shown["id"] }).toArray();
        expect(found.map(({ _id, message_id }) => [_id, message_id])).to.deep.equal([[first?._id, first?.message_id]]);
        expect(await sent.countDocuments({ conversation_id: shown["id"] })).to.equal(1);
      }
      expect(await rows().countDocuments({ contact_address: address })).to.equal(1);
    }
  });

  it("by mail begins a thread of its own each time, in which the next mail answers the first", async () => {
    const address = aMail();
    const mail = { channel: "email", contact_address: address, message: { subject: "Your order", text: "It is here" } };
    const [one, other] = [await create(mail), await create({ ...mail, sender_address: "help@example.com" })];
    expect([one.status, other.status], JSON.stringify(other.body)).to.deep.equal([201, 201]);
    const [row, second] = await Promise.all([one, other].map(({ body }) => rows().findOne({ _id: body["id"] })));
    expect(row).to.include({ subject: "Your order", status: "pending", contact_address: address });
    expect(row?.thread_key).to.match(/^dlv_\w{26}@example\.com$/);
    expect(second?.sender_address).to.equal("help@example.com");
    expect(second?.thread_key).to.not.equal(row?.thread_key);
    const reply = await call("POST", `/${row?._id}/messages`, { text: "One more thing" });
    const sent = await site.db.collection<MessageRow>("messages").findOne({ _id: String(reply.body["message_id"]) });
    expect(sent?.content).to.deep.include({
      email_subject: "Re: Your order",
      email_reply: { in_reply_to: row?.thread_key, references: [row?.thread_key] },
    });
  });

  const refusals: [string, object, [number, string]][] = [
    ["with nobody", { channel: "sms", message: { text: "a" } }, [400, "contact_address"]],
    [
      "with two",
      { channel: "sms", contact_address: "+4915112345678", external_id: "a", message: { text: "a" } },
      [400, "contact_address"],
    ],
    ["with no number", { channel: "sms", contact_address: "+49", message: { text: "a" } }, [400, "contact_address"]],
    ["with an unknown id", { channel: "sms", external_id: "nobody", message: { text: "a" } }, [400, "external_id"]],
    [
      "with another's subscription",
      { channel: "sms", subscription_id: "sub_1", message: { text: "a" } },
      [400, "subscription_id"],
    ],
    [
      "by mail without a subject",
      { channel: "email", contact_address: "ann@example.test", message: { text: "a" } },
      [400, "message.subject"],
    ],
    [
      "from an address of another domain",
      {
        channel: "email",
        contact_address: "ann@example.test",
        sender_address: "a@example.test",
        message: { subject: "a", text: "a" },
      },
      [400, "sender_address"],
    ],
    [
      "from another's number",
      { channel: "whatsapp", contact_address: "+4915112345678", sender_address: "1", message: template },
      [400, "sender_address"],
    ],
  ];
  for (const [what, body, is] of refusals)
    it(`is refused ${what}`, async () => {
      const refused = await create(body);
      expect([refused.status, refused.body.error?.details.field]).to.deep.equal(is);
    });

  it("is refused outside of a session, unless by a template, and makes nobody then", async () => {
    const address = aNumber();
    const refused = await create({ channel: "whatsapp", contact_address: address, message: { text: "Hi" } });
    expect([refused.status, refused.body.error?.code]).to.deep.equal([409, "HS_SESSION_CLOSED"]);
    expect(await rows().countDocuments({ contact_address: address })).to.equal(0);
    expect(await site.db.collection<SubscriptionRow>("subscriptions").countDocuments({ token: address })).to.equal(0);
  });

  it("is snoozed until then, and not in the past", async () => {
    const { row } = await seedConversation(site.db, of());
    const patch = (body: object) => call("PATCH", `/${row._id}`, body);
    const snoozed_until = new Date(Date.now() + 3_600_000).toISOString();
    expect((await patch({ status: "snoozed", snoozed_until })).body).to.include({ status: "snoozed", snoozed_until });
    expect((await patch({ status: "open" })).body).to.include({ status: "open", snoozed_until: null });
    const past = new Date(Date.now() - 1_000).toISOString();
    const refused = await patch({ status: "snoozed", snoozed_until: past });
    expect([refused.status, refused.body.error.details.field]).to.deep.equal([400, "snoozed_until"]);
    expect((await patch({ status: "open", snoozed_until })).status).to.equal(400);
  });
});
