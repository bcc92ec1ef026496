import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { newId } from "#core/domain/ids.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { openFiles } from "#core/storage/files/open.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { arrivalId } from "../../../../dispatcher/conversations/arrival.ts";
import { mailsOf } from "../../../../dispatcher/mail/contents.ts";
import { allAccounts } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("files of mails whose sender is deleted while they are read", () => {
  const db = testDatabase("lost_mails");
  const signal = new AbortController().signal;
  const of = { tenantId: "ten_1", appId: newId("app", new Date()), provider: "mailgun" };
  let dir = "";

  before(async () => {
    await mkdir(testDir, { recursive: true });
    dir = await mkdtemp(join(testDir, "lost-"));
  });
  after(() => rm(dir, { recursive: true, force: true }));

  it("are removed, and those of others are kept", async () => {
    const signer = { sign: () => "", isSigned: () => true };
    const files = openFiles(
      { filesDir: dir, publicUrl: "http://127.0.0.1", s3Prefix: "", s3Region: "" },
      { signer, clock: systemClock },
    );
    const app = { channels: { email: allAccounts(of.appId).email } } as AppRow; // what of it is read
    const mails = mailsOf({
      db: db(),
      directory: { app: async () => app },
      isTaking: async () => true,
      files,
      count: () => undefined,
    });
    const content = (id: string) => {
      const file = "Content-Type: image/png\r\n\r\nx";
      const mime = `From: ann@example.test\r\nMessage-ID: <${id}@x>\r\n${file}`;
      const callback = { part: "inbound", url: "", contentType: "", receivedAt: new Date(), body: Buffer.alloc(0) };
      return { of, channel: "email" as const, callback, mail: Buffer.from(mime), receipts: [], inbound: [] };
    };
    try {
      const read = await mails.contents([content("lost"), content("stored")], signal);
      const [lost, stored] = read.flatMap(({ inbound }) => inbound);
      if (lost === undefined || stored === undefined) return expect.fail("they were not read");
      const keyOf = ({ media }: typeof lost): string => {
        const [{ kept } = {}] = media;
        return kept !== undefined && "key" in kept ? kept.key : expect.fail("it has no file");
      };
      const _id = arrivalId({ of, provider: of.provider, channel: "email", message: stored });
      await db().collection<Pick<ConversationMessageRow, "_id">>("conversation_messages").insertOne({ _id });
      await mails.dropLost(read, signal);
      expect(await files.read(keyOf(lost), { signal })).to.equal(null);
      expect(await files.read(keyOf(stored), { signal })).to.not.equal(null);
    } finally {
      await mails.part.stop(signal);
      await files.close();
    }
  });
});
