import { expect } from "chai";
import { newId, ulid } from "#core/domain/ids.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { conversations } from "#core/storage/conversations/conversations.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { type DeliveryRow, deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { changeConversation } from "../../../../apiserver/conversations/change.ts";
import { useSharedSite } from "../../../support/api/shared-site.ts";
import { aMail } from "../../../support/callbacks/deliveries.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { seedTenant } from "../../../support/rows/fixtures.ts";

describe("the conversations of an app", () => {
  const { site, tenant } = useSharedSite({ plan: { _id: "conversations", api_rps: 1_000 } });

  const of = () => ({ tenant_id: tenant.tenant._id, app_id: tenant.app._id });
  const call = (method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
    site.api.call(method, `/v1/apps/${tenant.app._id}/conversations${path}`, {
      token: tenant.token,
      headers,
      ...(body !== undefined && { body }),
    });
  const aConversation = (over: Parameters<typeof seedConversation>[2] = {}) => seedConversation(site.db, of(), over);
  const rows = () => site.db.collection<ConversationRow>("conversations");
  const messageRows = () => site.db.collection<ConversationMessageRow>("conversation_messages");

  it("are shown with their last message, and whether they may be answered", async () => {
    const { row, message } = await aConversation();
    const { status, body } = await call("GET", `/${row._id}`);
    expect(status).to.equal(200);
    expect(body).to.deep.nested.include({
      status: "open",
      unread_count: 1,
      can_reply: "free_form",
      "session.open": true,
      "last_message.id": message._id,
      "last_message.status": "received",
    });
    const past = { subscription: { session_expires_at: new Date() } };
    const gone = { subscription: { status: "unsubscribed" as const } };
    for (const [over, able] of [
      [past, "template_only"],
      [gone, "none"],
    ] as const)
      expect((await call("GET", `/${(await aConversation(over)).row._id}`)).body).to.include({ can_reply: able });
  });

  it("are listed by when they changed, page by page, and narrowed", async () => {
    const mine = Array.from({ length: 3 }, (_, n) => ({
      assignee_id: "lister",
      status: n === 0 ? ("pending" as const) : ("open" as const),
      updated_at: new Date(Date.now() + n * 1_000),
    }));
    const made = [];
    for (const conversation of mine) made.push((await aConversation({ conversation })).row);
    const first = await call("GET", "?assignee_id=lister&limit=2");
    const rest = await call("GET", `?assignee_id=lister&limit=2&cursor=${first.body.next_cursor}`);
    const ids = [...first.body.data, ...rest.body.data].map(({ id }: { id: string }) => id);
    expect(ids).to.deep.equal(made.map(({ _id }) => _id).reverse());
    expect(rest.body.has_more).to.equal(false);
    const pending = await call("GET", "?assignee_id=lister&status=pending");
    expect(pending.body.data.map(({ id }: { id: string }) => id)).to.deep.equal([made[0]?._id]);
    const [one] = made;
    for (const narrowed of [
      `user_id=${one?.user_id}`,
      `contact_address=${encodeURIComponent(one?.contact_address ?? "")}`,
    ])
      expect((await call("GET", `?${narrowed}`)).body.data.map(({ id }: { id: string }) => id)).to.deep.equal([
        one?._id,
      ]);
  });

  it("are another organisation's or nobody's to those whose they are not, and need a feature of the plan", async () => {
    const { row } = await aConversation();
    const other = await seedTenant(site.db);
    const path = `/v1/apps/${tenant.app._id}/conversations/${row._id}`;
    expect((await site.api.call("GET", path, { token: other.token })).status).to.equal(404);
    expect((await call("GET", "/cnv_nobody")).status).to.equal(404);
    const free = await seedTenant(site.db, { plan: { _id: "without", features: [] } });
    const refused = await site.api.call("GET", `/v1/apps/${free.app._id}/conversations`, { token: free.token });
    expect([refused.status, refused.body.error.details.feature]).to.deep.equal([403, "conversations"]);
  });

  it("are changed member by member", async () => {
    const { row } = await aConversation({ conversation: { custom_attributes: { a: 1, b: "x" } } });
    const change = { status: "closed", priority: "high", tags: ["red"], custom_attributes: { a: null, c: true } };
    const { body } = await call("PATCH", `/${row._id}`, change);
    expect(body).to.deep.include({ status: "closed", priority: "high", tags: ["red"], seq: 2 });
    expect(body.custom_attributes).to.deep.equal({ b: "x", c: true });
    expect(body.closed_at).to.be.a("string");
    const opened = await call("PATCH", `/${row._id}`, { status: "open", handled_by: "bot" });
    expect(opened.body).to.include({ status: "open", closed_at: null, handled_by: "bot", priority: "high" });
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`n${n}`, n]));
    const refused = await call("PATCH", `/${row._id}`, { custom_attributes: many });
    expect([refused.status, refused.body.error.details.field]).to.deep.equal([400, "custom_attributes"]);
    for (const bad of [{}, { snoozed_until: null }, { tags: ["x", "x"] }, { unread_count: 0 }])
      expect((await call("PATCH", `/${row._id}`, bad)).status, JSON.stringify(bad)).to.equal(400);
  });

  it("are opened when they are closed, and become nothing else, unless a later one has their place", async () => {
    const { row } = await aConversation({ conversation: { status: "closed", closed_at: new Date() } });
    const statusOf = async (change: object) => {
      const { status, body } = await call("PATCH", `/${row._id}`, change);
      return [status, body.status ?? body.error.details];
    };
    expect(await statusOf({ status: "pending" })).to.deep.equal([409, { status: "closed" }]);
    await rows().updateOne({ _id: row._id }, { $unset: { place: "" } });
    expect(await statusOf({ status: "open" })).to.deep.equal([409, { status: "closed" }]);
    expect(await statusOf({ priority: "low" })).to.deep.equal([200, "closed"]);
    const reply = await call("POST", `/${row._id}/messages`, { text: "Still there?" });
    expect([reply.status, reply.body.error.code]).to.deep.equal([409, "HS_CONFLICT"]);
    expect(await messageRows().countDocuments({ conversation_id: row._id })).to.equal(1);
  });

  it("have the message that they came to have right before their writer was killed, once it tries again", async () => {
    const { row, message } = await aConversation();
    const cut = { ...message, _id: newId("conversationMessage", new Date()), position: ulid(new Date()) };
    const clock = { now: () => new Date() };
    const deps = { conversations: conversations(site.db, clock), publish: () => undefined, clock };
    await changeConversation(deps, { ...row, appended: [cut] }, () => null);
    expect(await messageRows().findOne({ _id: cut._id })).to.include({ position: cut.position });
  });

  it("are claimed by exactly one of ten", async () => {
    const { row } = await aConversation();
    const claims = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        call("POST", `/${row._id}/assign`, { assignee: { type: "account", id: `a${n}` }, claim: true }),
      ),
    );
    expect(claims.filter(({ status }) => status === 200)).to.have.length(1);
    expect(claims.filter(({ status }) => status === 409)).to.have.length(9);
    const [winner] = claims.filter(({ status }) => status === 200);
    const { id } = (winner?.body["assignee"] ?? {}) as { id?: string }; // its reply is a conversation
    const wrong = await call("POST", `/${row._id}/assign`, { assignee: null, expected_assignee: "else" });
    expect([wrong.status, wrong.body.error.details.assignee]).to.deep.equal([409, id]);
    const right = await call("POST", `/${row._id}/assign`, { assignee: null, expected_assignee: id });
    expect(right.body.assignee).to.equal(null);
  });

  it("are read and unread", async () => {
    const { row } = await aConversation();
    expect((await call("POST", `/${row._id}/read`, {})).body).to.include({ unread_count: 0 });
    const unread = await call("POST", `/${row._id}/read`, { read: false });
    expect(unread.body).to.deep.include({ unread_count: 1, read_at: null });
  });

  describe("answered", () => {
    it("are one notification, also when the request is repeated, whose delivery says what became of it", async () => {
      const { row, person } = await aConversation();
      const answers = [];
      for (let n = 0; n < 2; n++)
        answers.push(
          await call("POST", `/${row._id}/messages`, { text: "{{ Yes }}" }, { "Idempotency-Key": `r-${row._id}` }),
        );
      const [{ status, body }] = answers as [(typeof answers)[number]];
      const messageId = String(body["message_id"]);
      expect([status, body.status, body.direction, body.text]).to.deep.equal([202, "queued", "outbound", "{{ Yes }}"]);
      expect(answers.map((one) => one.body.id)).to.deep.equal([body.id, body.id]);
      const notifications = await site.db
        .collection<MessageRow>("messages")
        .find({ "target.include_subscription_ids": person._id })
        .toArray();
      expect(notifications.map(({ _id }) => _id)).to.deep.equal([messageId]);
      const { body: conversation } = await call("GET", `/${row._id}`);
      expect(conversation).to.include({ message_count: 2, waiting_since: null });
      expect(conversation.first_response_at).to.be.a("string");
      const now = new Date();
      const { delivery } = aMail(of(), {
        _id: deliveryIdOf(messageId, person._id),
        message_id: messageId,
        channel: "whatsapp",
        status: "delivered",
        delivered_at: now,
        sms_segments: 2,
      });
      await site.db.collection<DeliveryRow>("deliveries").insertOne(delivery);
      const { body: page } = await call("GET", `/${row._id}/messages?sort=created_at`);
      expect(page.data.map((one: { status: string }) => one.status)).to.deep.equal(["received", "delivered"]);
      expect(page.data[1]).to.include({ id: body.id, delivered_at: now.toISOString(), sms_segments: 2 });
    });

    it("are one of their conversation, and not throttled where the app's notifications are", async () => {
      const { app, token } = await seedTenant(site.db, { app: { throttle_default: 60 } });
      const { row } = await seedConversation(site.db, { tenant_id: app.tenant_id, app_id: app._id });
      const path = `/v1/apps/${app._id}/conversations/${row._id}/messages`;
      const { status, body } = await site.api.call("POST", path, { token, body: { text: "At once" } });
      expect(status, JSON.stringify(body)).to.equal(202);
      const sent = await site.db.collection<MessageRow>("messages").findOne({ _id: String(body["message_id"]) });
      expect(sent).to.include({ conversation_id: row._id }).and.not.have.property("throttle_per_minute");
    });

    it("are opened again when they were closed", async () => {
      const { row } = await aConversation({ conversation: { status: "closed", closed_at: new Date() } });
      await call("POST", `/${row._id}/messages`, { text: "One more thing" });
      expect((await call("GET", `/${row._id}`)).body).to.include({ status: "open", closed_at: null });
    });

    const refusals: { it: string; over: Parameters<typeof seedConversation>[2]; body: object; is: [number, string] }[] =
      [
        {
          it: "outside of the session",
          over: { subscription: { session_expires_at: new Date(Date.now() + 59_000) } },
          body: { text: "Hi" },
          is: [409, "HS_SESSION_CLOSED"],
        },
        {
          it: "to somebody who opted out",
          over: { subscription: { status: "unsubscribed", status_reason: "carrier_opt_out" } },
          body: { text: "Hi" },
          is: [409, "HS_RECIPIENT_SUPPRESSED"],
        },
        { it: "with nothing", over: {}, body: {}, is: [400, "HS_VALIDATION_ERROR"] },
        { it: "with 4,097 characters", over: {}, body: { text: "a".repeat(4_097) }, is: [400, "HS_VALIDATION_ERROR"] },
        {
          it: "with 1,601 characters by SMS",
          over: { conversation: { channel: "sms" } },
          body: { text: "a".repeat(1_601) },
          is: [400, "HS_VALIDATION_ERROR"],
        },
        {
          it: "with a template by SMS",
          over: { conversation: { channel: "sms" } },
          body: { whatsapp_template: { name: "a", language: "en" } },
          is: [400, "HS_VALIDATION_ERROR"],
        },
      ];
    for (const { it: what, over, body, is } of refusals)
      it(`are refused ${what}`, async () => {
        const { row } = await aConversation(over);
        const refused = await call("POST", `/${row._id}/messages`, body);
        expect([refused.status, refused.body.error?.code]).to.deep.equal(is);
        expect(await messageRows().countDocuments({ conversation_id: row._id })).to.equal(1);
      });

    it("take a template outside of the session", async () => {
      const { row } = await aConversation({ subscription: { session_expires_at: null } });
      const template = { name: "order_update", language: "en_US", body_params: ["Ada", "4711"] };
      const { status, body } = await call("POST", `/${row._id}/messages`, { whatsapp_template: template });
      expect([status, body.type]).to.deep.equal([202, "template"]);
      expect(body.template).to.deep.equal(template);
    });
  });

  it("have messages of every type", async () => {
    const { row, message } = await aConversation();
    const more = (over: Partial<ConversationMessageRow>): ConversationMessageRow => ({
      ...message,
      _id: newId("conversationMessage", new Date()),
      position: ulid(new Date()),
      provider_message_id: ulid(new Date()),
      ...over,
    });
    await messageRows().insertMany([
      more({
        type: "media",
        media: [{ type: "image", filename: null, mime_type: "image/png", status: "failed", problem: "too_large" }],
      }),
      more({ type: "location", location: { latitude: 1, longitude: 2, name: null, address: null } }),
      more({ type: "reaction", reaction: { messageId: "x", emoji: "👍" } }),
      more({
        type: "order",
        order: { catalogId: null, items: [{ productId: "p", quantity: 1, price: null, currency: null }] },
      }),
      more({ type: "system", author: { type: "system", id: null } }),
    ]);
    const { status, body } = await call("GET", `/${row._id}/messages?sort=created_at`);
    expect(status).to.equal(200);
    const data = body.data as unknown as { type: string; media: object[]; order: { items: object[] } }[]; // of messages
    expect(data.map(({ type }) => type)).to.deep.equal(["text", "media", "location", "reaction", "order", "system"]);
    expect(data[1]?.media[0]).to.include({ status: "failed", problem: "too_large", url: null });
    expect(data[4]?.order.items[0]).to.include({ product_id: "p", quantity: 1 });
  });
});
