import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { tallyKey } from "#core/domain/conversations/tally.ts";
import { dayMs } from "#core/domain/durations.ts";
import { newId } from "#core/domain/ids.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { conversationCounts } from "#core/storage/conversations/counts.ts";
import { folderOf, mailFolderOf } from "#core/storage/conversations/files.ts";
import type { ConversationMessageRow, MediaRow } from "#core/storage/conversations/message-row.ts";
import { notes } from "#core/storage/conversations/notes.ts";
import { conversationRetention } from "#core/storage/conversations/retention.ts";
import { openFiles } from "#core/storage/files/open.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { keptConversations } from "../../../../dispatcher/clean-up/conversations.ts";
import { countConversations } from "../../../../dispatcher/conversations/counting.ts";
import { passOverApps } from "../../../../dispatcher/work/kept-apps.ts";
import { seedConversation } from "../../../support/rows/conversations.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("conversations that are over", () => {
  const db = testDatabase("conversation_retention");
  const app = { tenantId: "ten_1", appId: newId("app", new Date()) };
  const of = { tenant_id: app.tenantId, app_id: app.appId };
  const { signal } = new AbortController();
  const stored = (collection: string, filter: object): Promise<number> =>
    db().collection(collection).countDocuments(filter);
  let dir = "";

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "retention-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  it("go with what was said and noted in them once nothing changed for as long as is kept, and are counted off", async () => {
    const signer = { sign: () => "", isSigned: () => true };
    const settings = { filesDir: dir, publicUrl: "http://127.0.0.1", s3Prefix: "", s3Region: "" };
    const files = openFiles(settings, { signer, clock: systemClock });
    if (files.kind === "none") return expect.fail("there is a folder");
    const past = new Date(Date.now() - 11 * dayMs);
    const closed = { status: "closed", closed_at: past, updated_at: past, uncounted_at: past } as const;
    const seed = async (conversation: Partial<ConversationRow>) => seedConversation(db(), of, { conversation });
    const over = await seed(closed);
    const [young, going] = [
      await seed({ ...closed, updated_at: new Date() }),
      await seed({ ...closed, status: "open" }),
    ];
    const [folder, ofMail, others] = [
      `${folderOf(app.appId, over.row._id)}a.png`,
      `${mailFolderOf(app.appId, over.message._id)}0.png`,
      `${folderOf(app.appId, young.row._id)}a.png`,
    ];
    for (const key of [folder, ofMail, others]) await files.write(key, content(), { contentType: "image/png", signal });
    const media: MediaRow[] = [
      { type: "image", filename: null, mime_type: "image/png", status: "stored", key: ofMail },
    ];
    await db()
      .collection<ConversationMessageRow>("conversation_messages")
      .updateOne({ _id: over.message._id }, { $set: { media } });
    const { subscription_id, user_id } = over.row;
    const author = { type: "api_key" as const, id: "key_1" };
    const said = { position: "a", text: "a", mentions: [], author, created_at: past };
    const noted = { ...of, subscription_id, user_id, conversation_id: over.row._id };
    await notes(db()).add({ _id: newId("conversationNote", past), ...noted, ...said });
    await count();

    const pages = [[{ ...app, days: 10 }], []];
    const deps = {
      ...conversationRetention(db(), files),
      appsAfter: async () => pages.shift() ?? [],
      isOurs: async () => true,
      setAside: () => expect.fail("it was set aside"),
      clock: { now: () => new Date(Date.now() + 60_000) }, // files are younger than what they belong to here
      log: createLog({ program: "dispatcher", level: "fatal" }),
    };
    const isDone = await passOverApps(deps, keptConversations(deps), signal);
    expect(isDone).to.equal(true);
    const tally = async () => (await conversationCounts(db()).find(app))?.tallies[tallyKey("whatsapp", "none")];
    expect(await tally()).to.include({ closed: 2, open: 1 });
    await count();
    expect(await tally()).to.include({ closed: 1, open: 1 });
    expect(await stored("conversations", { _id: over.row._id })).to.equal(0);
    for (const collection of ["conversation_messages", "conversation_notes"])
      expect(await stored(collection, { conversation_id: over.row._id }), collection).to.equal(0);
    for (const key of [folder, ofMail]) expect(await files.read(key, { signal }), key).to.equal(null);
    expect(await files.read(others, { signal })).to.not.equal(null);
    expect(await stored("conversations", { _id: { $in: [young.row._id, going.row._id] } })).to.equal(2);
    expect(await stored("conversation_messages", { conversation_id: young.row._id })).to.equal(1);
    await files.close();
  });

  const count = async (): Promise<void> => {
    await conversationCounts(db()).touch(app, new Date());
    const waiting = { counted: () => undefined };
    await countConversations({ counts: conversationCounts(db()), waiting, clock: systemClock })(of);
  };
});

async function* content(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("x");
}
