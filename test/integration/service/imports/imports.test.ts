import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { aUser } from "../../../support/rows/fixtures.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { type ImportSystem, startImporting } from "../../../support/system/importing.ts";
import { until } from "../../../support/until.ts";

const players = [
  "external_user_id,identifier,device_type,tags,language,session_count,created_at,last_active,notification_types,invalid_identifier",
  `anna,${"a".repeat(64)},0,"{""plan"":""pro"",""age"":""41""}",de,3,2018-10-26 08:48:42,2024-01-01 00:00:00,1,f`,
  `anna,anna@example.com,11,"{""plan"":""free""}",de,2,2017-10-26 08:48:42,2023-01-01 00:00:00,,f`,
  `,+4915112345678,14,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,-2,f`,
  `berta,${"b".repeat(140)},1,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,t`,
  `carla,not-a-token,0,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,f`,
  `emil,no token,0,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,f`,
  `dora,https://push.example.com/1,5,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,f`,
].join("\n");

describe("an import", () => {
  let site: ImportSystem;
  before(async () => {
    site = await startImporting(await testServers());
    await site.start("dispatcher");
  });
  after(() => site?.stop());

  it("takes an export of the third-party system, and makes nothing when the same file comes again", async () => {
    const first = await site.take({ type: "thirdparty_players", content: gzipSync(players), name: "players.csv.gz" });
    expect(first).to.deep.include({ status: "completed", error: null, file_name: "players.csv.gz" });
    const counts = { processed: 7, skipped: 1, errors: 2, anonymous: 1 };
    expect(first.stats).to.include({ ...counts, created_users: 4, updated_users: 0, created_subscriptions: 4 });
    expect(first.progress.read_bytes).to.equal(first.progress.size_bytes);
    expect(await site.report(first)).to.deep.equal([
      `6,the address must be 64 or more hexadecimal digits,"carla,•••en,0,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,f"`,
      `7,the address must be 64 or more hexadecimal digits,"emil,•••en,0,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,f"`,
      `8,a browser's subscription cannot be moved: it belongs to the site's own key,"dora,•••.com/1,5,,en,1,2019-01-01 00:00:00,2019-01-02 00:00:00,1,f"`,
    ]);
    const anna = await site.users.findOne({ app_id: site.app._id, external_id: "anna" });
    expect(anna).to.deep.include({ tags: { plan: "pro", age: "41" }, session_count: 5, language: "de" });
    expect(anna?.first_seen_at).to.deep.equal(new Date("2017-10-26T08:48:42Z"));
    expect(anna?.last_active_at).to.deep.equal(new Date("2024-01-01T00:00:00Z"));
    const owned = await site.subscriptions.find({ app_id: site.app._id }).sort({ channel: 1 }).toArray();
    expect(owned.map(({ channel, status }) => [channel, status])).to.deep.equal([
      ["android_push", "invalid"],
      ["email", "subscribed"],
      ["ios_push", "subscribed"],
      ["sms", "unsubscribed"],
    ]);
    const entries = await site.suppressions.find({ app_id: site.app._id }).toArray();
    expect(entries.map(({ channel, reason, source }) => [channel, reason, source])).to.deep.equal([
      ["sms", "unsubscribe", "import"],
    ]);
    expect(owned.flatMap(({ outbox, due_at }) => [...outbox, due_at].filter(Boolean))).to.deep.equal([]);

    const again = await site.take({ type: "thirdparty_players", content: players });
    expect(again.stats).to.include({ ...counts, created_users: 0, updated_users: 4, created_subscriptions: 0 });
    expect(await site.users.countDocuments({ app_id: site.app._id })).to.equal(4);
    expect(await site.users.findOne({ external_id: "anna" })).to.deep.include({ tags: anna?.tags, session_count: 5 });
  });

  it("that failed, and is tried again later, does not delay those behind it", async () => {
    const other = await site.other();
    const { _id: app_id, tenant_id } = other.app;
    const broken = aUser({ app_id, tenant_id, external_id: "broken" });
    const unreadable = { ...broken, revision: "none" as unknown as number }; // the store cannot count it up
    await site.users.insertOne(unreadable);
    const first = await other.upload({ type: "csv_users", content: "external_id\nbroken\n" });
    const aside = async () => (await site.imports.findOne({ _id: first.body.id }))?.set_aside?.failures ?? 0;
    await until(async () => (await aside()) > 0);
    expect((await other.take({ type: "csv_users", content: "external_id\nfine\n" })).stats).to.include({
      created_users: 1,
    });
    expect((await other.show(first.body.id)).status).to.equal("pending");
    await site.users.updateOne({ _id: broken._id }, { $set: { revision: 0 } });
    await site.imports.updateOne({ _id: first.body.id }, { $set: { due_at: new Date() } });
    expect(await other.ended(first.body.id)).to.deep.include({ status: "completed", error: null });
  });

  it("leaves no file but its report when it has ended", async () => {
    const done = await site.take({ type: "csv_users", content: "external_id,tags\nedna,{}\n,{}\n" });
    expect(done.stats).to.include({ processed: 2, created_users: 1, errors: 1 });
    await until(async () => (await site.imports.findOne({ _id: done.id }))?.report_parts.length === 0);
    expect(await filesOf(site, done.id)).to.deep.equal(["report.csv"]);
  });
});

const filesOf = async ({ filesDir, app }: ImportSystem, id: string): Promise<string[]> => {
  const { readdir } = await import("node:fs/promises");
  return readdir(`${filesDir}/imports/${app._id}/${id}`);
};
