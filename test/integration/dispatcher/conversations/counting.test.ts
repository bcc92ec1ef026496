import { expect } from "chai";
import { dayOf, medianOf, tallyKey } from "#core/domain/conversations/tally.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { type ConversationCounts, conversationCounts } from "#core/storage/conversations/counts.ts";
import { eraseConversations } from "#core/storage/conversations/erasure.ts";
import { countConversations } from "../../../../dispatcher/conversations/counting.ts";
import { waitingConversations } from "../../../../dispatcher/conversations/waiting.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("the count of an app's conversations", () => {
  const db = testDatabase("conversation_counts");
  let made = 0;
  const clock = { now: () => new Date() };
  let nowMs = 0;
  const waiting = waitingConversations(() => nowMs);
  const rows = () => db().collection<ConversationRow>("conversations");
  const anApp = () => ({ tenant_id: "ten_1", app_id: `app_count_${made++}` });
  type App = ReturnType<typeof anApp>;
  const of = ({ tenant_id: tenantId, app_id: appId }: App) => ({ tenantId, appId });

  const count = async (app: App, over: Partial<ConversationCounts> = {}): Promise<void> => {
    const counts = conversationCounts(db());
    await counts.touch(of(app), clock.now());
    await countConversations({ counts: { ...counts, ...over }, waiting, clock })(app);
  };
  const tallyOf = async (app: App, key = tallyKey("whatsapp", "none")) =>
    (await conversationCounts(db()).find(of(app)))?.tallies[key];
  const seed = async (app: App, conversation: Partial<ConversationRow> = {}) =>
    (await seedConversation(db(), app, { conversation: { uncounted_at: clock.now(), ...conversation } })).row;
  /** As whoever changes a conversation does it. */
  const change = ({ _id }: ConversationRow, set: Partial<ConversationRow>) =>
    rows().updateOne({ _id }, { $set: { ...set, uncounted_at: clock.now() }, $inc: { seq: 1 } });

  it("follows each conversation as it changes", async () => {
    const app = anApp();
    const row = await seed(app, { unread_count: 2 });
    await count(app);
    expect(await tallyOf(app)).to.include({
      open: 1,
      closed: 0,
      unreadMessages: 2,
      unreadConversations: 1,
      waiting: 1,
    });
    await change(row, { status: "closed", closed_at: clock.now(), unread_count: 0, waiting_since: null });
    await count(app);
    const tally = await tallyOf(app);
    expect(tally).to.include({ open: 0, closed: 1, unreadMessages: 0, unreadConversations: 0, waiting: 0 });
    expect(tally?.days[dayOf(clock.now())]?.closed).to.equal(1);
    await change(row, { status: "open", closed_at: null, assignee_id: "a.b$c" });
    await count(app);
    expect(await tallyOf(app, tallyKey("whatsapp", "a.b$c"))).to.include({ open: 1, closed: 0 });
  });

  it("says how many wait of all apps that it counted of late", async () => {
    nowMs += 3_600_000; // what other tests counted is forgotten
    const [app, other] = [anApp(), anApp()];
    const row = await seed(app, {});
    await seed(other, {});
    await seed(other, {});
    await count(app);
    await count(other);
    expect(waiting.sum()).to.equal(3);
    await change(row, { waiting_since: null });
    await count(app);
    expect(waiting.sum()).to.equal(2);
    nowMs += 3_600_000;
    expect(waiting.sum(), "another counts by now").to.equal(0);
  });

  it("counts each once, when who counts is killed before each says so, or another changes it meanwhile", async () => {
    const app = anApp();
    const all = [await seed(app), await seed(app), await seed(app)];
    const killed = { mark: async () => Promise.reject(new Error("killed")) };
    let calls = 0;
    const afterFirst = {
      mark: async (...marks: Parameters<ConversationCounts["mark"]>) =>
        calls++ === 0 ? conversationCounts(db()).mark(...marks) : killed.mark(),
    };
    await count(app, afterFirst).catch(() => undefined);
    expect((await tallyOf(app))?.open).to.equal(3);
    const [first] = all;
    if (first !== undefined) await change(first, { status: "pending" });
    await count(app);
    expect(await tallyOf(app)).to.include({ open: 2, pending: 1 });
    await count(app);
    expect(await tallyOf(app)).to.include({ open: 2, pending: 1 });
    const left = await rows().countDocuments({ app_id: app.app_id, uncounted_at: { $ne: null } });
    expect(left).to.equal(0);
  });

  it("loses those of somebody who is erased, of whom nothing is left", async () => {
    const app = anApp();
    const row = await seed(app);
    await seed(app);
    await count(app);
    const person = {
      ...of(app),
      userId: row.user_id,
      keys: new Set<string>(),
      at: clock.now(),
      isLast: true,
      isErased: true,
    };
    await eraseConversations(db(), person);
    expect(await rows().findOne({ _id: row._id })).to.have.all.keys(
      "_id",
      "tenant_id",
      "app_id",
      "seq",
      "counted",
      "gone",
      "uncounted_at",
    );
    await count(app);
    expect(await rows().findOne({ _id: row._id })).to.equal(null);
    expect(await tallyOf(app)).to.include({ open: 1 });
  });

  it("knows the median of first answers within 5 %", async () => {
    const app = anApp();
    const now = clock.now();
    for (const seconds of [10, 95, 4_000])
      await seed(app, { first_response_at: now, first_response_ms: seconds * 1_000 });
    await count(app);
    const tally = (await tallyOf(app)) ?? expect.fail("nothing is counted");
    expect(medianOf([tally], dayOf(now))).to.be.within(90, 100);
  });
});
