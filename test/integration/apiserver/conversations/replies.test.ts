import { expect } from "chai";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";

describe("replies in conversations", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "conversation-replies", api_rps: 1_000 } });
  const of = () => ({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
  const answer = (id: string, body: object) =>
    site.api.call("POST", `/v1/apps/${tenant.app._id}/conversations/${id}/messages`, { token: tenant.token, body });
  const messages = () => site.db.collection<ConversationMessageRow>("conversation_messages");
  const aConversation = async (over: Parameters<typeof seedConversation>[2] = {}) => {
    const seeded = await seedConversation(site.db, of(), over);
    await messages().updateOne({ _id: seeded.message._id }, { $set: { provider_raw_id: "wamid.1" } });
    return seeded;
  };
  /** What is sent of a reply. */
  const contentOf = async (messageId: unknown) =>
    (await site.db.collection<MessageRow>("messages").findOne({ _id: String(messageId) }))?.content;

  const url = "https://files.example.com/red.jpg";
  const interactive = { type: "button", buttons: [{ id: "yes", title: "Yes" }] };
  const kinds: { it: string; body: object; type: string; sends: object }[] = [
    {
      it: "a picture",
      body: { media: { type: "image", url }, text: "Red" },
      type: "media",
      sends: { whatsapp_media: { type: "image", url } },
    },
    {
      it: "buttons",
      body: { whatsapp_interactive: interactive, text: "Red?" },
      type: "interactive",
      sends: { whatsapp_interactive: interactive },
    },
    {
      it: "a place",
      body: { location: { latitude: 52.5, longitude: 13.4 } },
      type: "location",
      sends: { whatsapp_reply: { location: { latitude: 52.5, longitude: 13.4 } } },
    },
  ];
  for (const { it: what, body, type, sends } of kinds)
    it(`may be ${what}`, async () => {
      const { row } = await aConversation();
      const { status, body: shown } = await answer(row._id, body);
      expect(status, JSON.stringify(shown)).to.equal(202);
      expect(shown["type"]).to.equal(type);
      expect(await contentOf(shown["message_id"])).to.deep.include(sends);
    });

  it("show the picture that they name", async () => {
    const { row } = await aConversation();
    const { body } = await answer(row._id, { media: { type: "image", url } });
    expect((body["media"] as object[])[0]).to.include({ type: "image", status: "stored", url }); // as the schema says
  });

  it("answer a message of the person by Meta's own id of it, or put an emoji on it", async () => {
    const { row, message } = await aConversation();
    const quoting = await answer(row._id, { text: "This one", reply_to_id: message._id });
    expect([quoting.status, quoting.body["reply_to_id"]]).to.deep.equal([202, message._id]);
    expect(await contentOf(quoting.body["message_id"])).to.deep.include({ whatsapp_reply: { context: "wamid.1" } });
    const reacting = await answer(row._id, { reaction: { message_id: message._id, emoji: "👍" } });
    expect([reacting.status, reacting.body["type"]]).to.deep.equal([202, "reaction"]);
    const reaction = { message_id: "wamid.1", emoji: "👍" };
    expect(await contentOf(reacting.body["message_id"])).to.deep.include({ whatsapp_reply: { reaction } });
    const { message: other } = await aConversation();
    for (const [body, field] of [
      [{ text: "a", reply_to_id: other._id }, "reply_to_id"],
      [{ reaction: { message_id: "cmg_none", emoji: "👍" } }, "reaction.message_id"],
    ] as const)
      expect((await answer(row._id, body)).body.error.details.field).to.equal(field);
  });

  it("may have files by SMS", async () => {
    const { row } = await aConversation({ conversation: { channel: "sms", sender_address: "" } });
    const { status, body } = await answer(row._id, { media_urls: [url], text: "Red" });
    expect([status, body["type"]], JSON.stringify(body)).to.deep.equal([202, "media"]);
    expect(await contentOf(body["message_id"])).to.deep.include({ sms_media_urls: [url] });
  });

  const media = { type: "image", url };
  const refused: [string, object, string, Parameters<typeof seedConversation>[2]?][] = [
    ["two things", { media, location: { latitude: 1, longitude: 2 } }, "location"],
    ["buttons without a text", { whatsapp_interactive: interactive }, "text"],
    ["a text beside a place", { text: "a", location: { latitude: 1, longitude: 2 } }, "text"],
    ["a text beside a sound", { text: "a", media: { type: "audio", url } }, "text"],
    ["data without a template", { text: "a", custom_data: { a: 1 } }, "custom_data"],
    ["files of SMS on WhatsApp", { media_urls: [url] }, "media_urls"],
    ["a picture of WhatsApp by SMS", { media }, "media", { conversation: { channel: "sms" } }],
    ["a caption of 1,025", { media, text: "a".repeat(1_025) }, "contents.en"],
    ["an unknown template", { template_id: "tpl_none" }, "template_id"],
  ];
  for (const [what, body, field, over] of refused)
    it(`are refused with ${what}`, async () => {
      const { row } = await aConversation(over);
      const { status, body: reply } = await answer(row._id, body);
      expect([status, reply.error?.details.field], JSON.stringify(reply)).to.deep.equal([400, field]);
      expect(await messages().countDocuments({ conversation_id: row._id })).to.equal(1);
    });
});
