import { expect } from "chai";
import { ulid } from "#core/domain/ids.ts";
import type { ExportFilters } from "#core/schema/exports/export.ts";
import { parser } from "#core/schema/json/parser.ts";
import { PersonalData } from "#core/schema/people/data.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { type InAppEventRow, inAppEventCollection } from "#core/storage/in-app-messages/events.ts";
import { sessionMonths } from "#core/storage/people/session-months.ts";
import { exportLines } from "../../../../dispatcher/exports/all.ts";
import { personalData } from "../../../../dispatcher/exports/personal-data.ts";
import { storedFacts } from "../../../support/filters/facts.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { aUser, seed } from "../../../support/rows/fixtures.ts";
import { anInAppEvent } from "../../../support/rows/in-app-event.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { rowsOf } from "../../../support/system/exports.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const at = (minute: number): Date => new Date(Date.UTC(2026, 2, 1, 12, minute));

describe("exports of conversations", () => {
  const db = testDatabase("conversation_exports");
  const rows = () => db().collection<ConversationRow>("conversations");
  const messages = () => db().collection<ConversationMessageRow>("conversation_messages");
  let first: Awaited<ReturnType<typeof seedConversation>>;
  let second: Awaited<ReturnType<typeof seedConversation>>;
  const many = 1_001;

  before(async () => {
    first = await seedConversation(db(), of, { conversation: { created_at: at(1), contact_name: "=1+1" } });
    second = await seedConversation(db(), of, {
      conversation: { created_at: at(2), channel: "sms", status: "closed" },
    });
    await seedConversation(db(), { tenant_id: "ten_2", app_id: "app_2" });
    const { row } = await seedConversation(db(), of);
    await rows().updateOne({ _id: row._id }, { $set: { gone: true } });
    await messages().deleteMany({ conversation_id: row._id });
    const further = Array.from({ length: many }, (_, n) => {
      const created = new Date(at(10).getTime() + n);
      return { ...first.message, _id: `cmg_${n}`, text: `${n}`, position: ulid(created), created_at: created };
    });
    await messages().insertMany(further);
  });

  const read = async (type: "conversations" | "conversation_messages", filters: ExportFilters = {}) => {
    const found: Buffer[] = [];
    const app = { tenantId: of.tenant_id, appId: of.app_id };
    for await (const { bytes } of exportLines[type](db(), app, filters, storedFacts(db()))) found.push(bytes);
    return rowsOf(Buffer.concat(found).toString());
  };
  const idsOf = (found: readonly Record<string, string>[]) => found.map((row) => row["id"]);

  it("have each conversation of the app once, as they began, and nobody who is gone", async () => {
    const found = await read("conversations");
    expect(idsOf(found)).to.deep.equal([first.row._id, second.row._id]);
    expect(found[0]).to.include({
      channel: "whatsapp",
      contact_address: `'${first.person.token}`, // as a cell that is no formula
      contact_name: "'=1+1",
      status: "open",
      assignee_id: "",
      tags: "[]",
      created_at: at(1).toISOString(),
    });
  });

  it("heed the channel, the status and when they began", async () => {
    expect(idsOf(await read("conversations", { channel: "sms" }))).to.deep.equal([second.row._id]);
    expect(idsOf(await read("conversations", { status: "open" }))).to.deep.equal([first.row._id]);
    const only = { from: at(2).toISOString(), to: at(2).toISOString() };
    expect(idsOf(await read("conversations", only))).to.deep.equal([second.row._id]);
  });

  it("have each message once, over many pages", async () => {
    const found = await read("conversation_messages");
    expect(new Set(idsOf(found)).size).to.equal(many + 2);
    expect(found).to.have.length(many + 2);
    const [oldest] = await read("conversation_messages", { channel: "sms" });
    expect(oldest).to.include({ id: second.message._id, direction: "inbound", text: "Hello?", author_type: "contact" });
    const window = { from: at(10).toISOString(), to: new Date(at(10).getTime() + 2).toISOString() };
    expect(idsOf(await read("conversation_messages", window))).to.have.members(["cmg_0", "cmg_1", "cmg_2"]);
  });

  it("of a person's data have what they wrote, over addresses of theirs too, and what they did in apps", async () => {
    const user = aUser({ ...of, _id: first.row.user_id });
    await seed(db(), { users: [user] });
    const others = { user_id: "usr_before_the_merge" }; // the subscription became theirs
    await messages().updateOne({ _id: first.message._id }, { $set: others });
    const shown = anInAppEvent({ ...of, _id: "iev_1", user_id: user._id, type: "clicked", click_id: "buy" });
    await db()
      .collection<InAppEventRow>(inAppEventCollection.name)
      .insertMany([shown, { ...shown, _id: "iev_2", user_id: "usr_other" }]);
    for (const minutes of [37, 20]) await sessionMonths(db()).add(user, at(minutes), at(minutes));
    const written: Buffer[] = [];
    const row = anExport({ ...of, type: "personal_data", person: user._id });
    for await (const { bytes } of personalData(db(), row, { now: () => new Date() })) written.push(bytes);
    const data = JSON.parse(Buffer.concat(written).toString()) as PersonalData;
    parser(PersonalData)(data);
    expect(data.conversations.map(({ id }) => id)).to.deep.equal([first.row._id]);
    expect(data.conversation_messages).to.have.length(many + 1);
    expect(data.conversation_messages.map(({ text }) => text)).to.include.members(["Hello?", "7"]);
    expect(data.conversation_notes).to.deep.equal([]);
    expect(data.in_app_events.map(({ id, type, click_id }) => [id, type, click_id])).to.deep.equal([
      ["iev_1", "clicked", "buy"],
    ]);
    const begun = [at(15), at(30)].map((quarter) => quarter.toISOString());
    expect(data.sessions).to.deep.equal([{ month: "2026-03-01T00:00:00.000Z", begun }]);
  });
});
