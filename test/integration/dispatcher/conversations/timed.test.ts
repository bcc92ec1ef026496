import { expect } from "chai";
import { conversationEvent } from "#core/domain/conversations/events.ts";
import { hourMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { conversations } from "#core/storage/conversations/conversations.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { changeInTime } from "../../../../dispatcher/conversations/timed.ts";
import { failUnsent } from "../../../../dispatcher/conversations/unsent.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };

describe("conversations in time", () => {
  const db = testDatabase("timed_conversations");
  const told: EventEnvelope[] = [];
  beforeEach(() => void told.splice(0));

  /** One of these, after what was due of it at `now` was done. */
  const afterwards = async (
    conversation: Partial<ConversationRow>,
    settings: Partial<AppRow> = {},
    now = new Date(),
    found: Partial<ConversationRow> = {},
  ) => {
    const { row } = await seedConversation(db(), of, { conversation });
    const publish = async (one: Pick<ConversationRow, "outbox">): Promise<boolean> => {
      told.push(...one.outbox);
      return true;
    };
    const handle = changeInTime({
      directory: { app: async () => settings as AppRow }, // its settings alone are read
      clock: { now: () => now },
      store: conversations(db(), { now: () => now }),
      box: { flush: publish, flushDue: publish },
      touch: () => undefined,
      failUnsent: async (one) => ({ isEarly: false, row: one }),
    });
    await handle({ ...row, ...found });
    const stored = await db().collection<ConversationRow>("conversations").findOne({ _id: row._id });
    return stored ?? expect.fail("it is gone");
  };
  const names = () => told.map(({ data }) => [data["name"], (data["properties"] as Record<string, unknown>)["cause"]]);
  const ago = (hours: number): Date => new Date(Date.now() - hours * hourMs);

  it("are opened when a snooze ends, which is told once", async () => {
    const row = await afterwards({ status: "snoozed", snoozed_until: ago(0.01), seq: 4 });
    expect(row).to.include({ status: "open", snoozed_until: null, seq: 5 });
    expect(names()).to.deep.equal([["hs.conversation.updated", "timer"]]);
  });

  it("keep the events that came to wait after they were found due", async () => {
    const waiting = conversationEvent("hs.conversation.updated", {
      conversation: (await seedConversation(db(), of, {})).row,
      cause: "api_key",
      seq: 1,
      from: ["cnv_1", "1"],
      at: ago(0.01),
    });
    const due: Partial<ConversationRow> = { status: "snoozed", snoozed_until: ago(0.01), outbox: [waiting] };
    const { outbox } = await afterwards(due, {}, new Date(), { outbox: [] });
    expect(outbox.map(({ id }) => id))
      .to.have.lengthOf(2)
      .and.to.include(waiting.id);
    expect(names().map(([, cause]) => cause)).to.have.members(["api_key", "timer"]);
  });

  it("stay snoozed until then, or until the person writes", async () => {
    const snoozed_until = ago(-2);
    expect(await afterwards({ status: "snoozed", snoozed_until })).to.deep.include({
      status: "snoozed",
      due_at: snoozed_until,
    });
    expect(await afterwards({ status: "snoozed", snoozed_until: null })).to.include({
      status: "snoozed",
      due_at: null,
    });
    expect(told).to.deep.equal([]);
  });

  it("are closed after 72 hours without a change, or as their app says", async () => {
    const closed = await afterwards({ status: "pending", updated_at: ago(73) });
    expect(closed).to.include({ status: "closed" });
    expect(closed.closed_at).to.be.instanceOf(Date);
    expect(names()).to.deep.equal([["hs.conversation.closed", "timer"]]);
    const soon = { conversations: { auto_close_hours: 1 } };
    expect(await afterwards({ updated_at: ago(2) }, soon)).to.include({ status: "closed" });
    expect(await afterwards({ updated_at: ago(900) }, { conversations: { auto_close_hours: 0 } })).to.include({
      status: "open",
    });
  });

  it("are looked at again when they end, and once a day", async () => {
    const now = new Date();
    const lasting = { conversations: { auto_close_hours: 5 } };
    const { due_at: end } = await afterwards({ updated_at: ago(2) }, lasting, now);
    expect(Math.abs((end?.getTime() ?? 0) - ago(-3).getTime())).to.be.below(10_000);
    const { due_at: tomorrow } = await afterwards({ updated_at: now }, {}, now);
    expect(tomorrow).to.deep.equal(new Date(now.getTime() + 24 * hourMs));
  });

  it("are left alone when somebody changes them at the same moment", async () => {
    const { row } = await seedConversation(db(), of, { conversation: { status: "snoozed", snoozed_until: ago(1) } });
    const store = conversations(db(), { now: () => new Date() });
    const handle = changeInTime({
      directory: { app: async () => ({}) as AppRow },
      clock: { now: () => new Date() },
      store: {
        ...store,
        put: async (read, after) => {
          await store.put(read, { ...read, priority: "urgent", seq: read.seq + 1 });
          return store.put(read, after);
        },
      },
      box: { flush: () => expect.fail("nothing is to be told"), flushDue: () => expect.fail("nor this") },
      touch: () => expect.fail("nobody has changed it"),
      failUnsent: () => expect.fail("nothing waits"),
    });
    await handle(row);
    expect(await store.find({ tenantId: of.tenant_id, appId: of.app_id }, row._id)).to.include({
      status: "snoozed",
      priority: "urgent",
      seq: 2,
    });
  });

  it("tell of a reply that nobody came to accept, once its request is over for sure", async () => {
    const { row, message } = await seedConversation(db(), of);
    const madeAt = ago(0);
    const { provider: _provider, provider_message_id: _id, ...said } = message;
    const reply: ConversationMessageRow = {
      ...said,
      _id: newId("conversationMessage", madeAt),
      direction: "outbound",
      message_id: newId("message", madeAt),
      created_at: madeAt,
    };
    const facts = { conversation: row, cause: "api_key", seq: 2, from: [row._id, "2"], at: madeAt } as const;
    const waits = { seq: 2, appended: [reply], outbox: [conversationEvent("hs.conversation.updated", facts)] };
    await db().collection<ConversationRow>("conversations").updateOne({ _id: row._id }, { $set: waits });
    const run = async (afterMs: number, isThere: boolean): Promise<void> => {
      const clock = { now: () => new Date(madeAt.getTime() + afterMs) };
      const store = conversations(db(), clock);
      const publish = async (one: Pick<ConversationRow, "outbox">) => (told.push(...one.outbox), true);
      const accepted = async (ids: readonly string[]) => new Set(isThere ? ids : []);
      const handle = changeInTime({
        directory: { app: async () => ({}) as AppRow },
        clock,
        store,
        box: { flush: publish, flushDue: publish },
        touch: () => undefined,
        failUnsent: failUnsent({ store, accepted, clock }),
      });
      const due = await store.find({ tenantId: of.tenant_id, appId: of.app_id }, row._id);
      await handle(due ?? expect.fail("it is gone"));
    };
    await run(59_000, false);
    expect(names(), "it may still be accepted").to.deep.equal([]);
    await run(60_000, true);
    expect(names(), "it was").to.deep.equal([["hs.conversation.updated", "api_key"]]);
    told.splice(0);
    await run(60_000, false);
    expect(names()).to.deep.equal([
      ["hs.conversation.updated", "api_key"],
      ["hs.conversation.message_failed", "timer"],
    ]);
    const stored = await db().collection<ConversationMessageRow>("conversation_messages").findOne({ _id: reply._id });
    expect(stored).to.include({ unsent: true, message_id: reply.message_id });
    told.splice(0);
    await run(60_000, false);
    expect(names(), "once: its event has one id").to.have.lengthOf(2);
  });
});
