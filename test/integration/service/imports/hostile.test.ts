import { randomBytes } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { importLimits } from "#core/schema/imports/import.ts";
import { peakRssMiB } from "../../../../dev/processes/usage.ts";
import { testServers } from "../../../support/servers/servers.ts";
import { type Importer, type ImportSystem, startImporting } from "../../../support/system/importing.ts";
import type { SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";

const csv = (content: string | Uint8Array) => ({ type: "csv_users", content });
const head = "external_id,tags\n";

describe("a file of an import that is", () => {
  let site: ImportSystem;
  let app: Importer;
  let dispatcher: SystemProgram;
  before(async () => {
    site = await startImporting(await testServers(), { plan: { subscribers: 5 } });
    dispatcher = await site.start("dispatcher");
  });
  beforeEach(async () => {
    app = await site.other();
  });
  after(() => site?.stop());

  const users = () => site.users.countDocuments({ app_id: app.app._id });

  const failing = [
    {
      it: "in another encoding behind its header",
      content: Buffer.from(`${head}${"anna,\n".repeat(20_000)}stra\xdfe,\n`, "latin1"),
      error: /^HS_VALIDATION_ERROR: the file is not UTF-8/,
    },
    {
      it: "a gzip that breaks off",
      content: gzipSync(head + Array.from({ length: 5_000 }, (_, n) => `p${n * 7919},\n`).join("")).subarray(0, 8_000),
      error: /^HS_VALIDATION_ERROR: the gzip cannot be read to its end/,
    },
    {
      it: "a gzip bomb",
      content: gzipSync(head + "\n".repeat(20_000_000)),
      error: /^HS_VALIDATION_ERROR: the file inflates to more than 200 times/,
    },
    {
      it: "one huge cell",
      content: `${head}anna,"${"x".repeat(1_000_000)}`,
      error: /^HS_VALIDATION_ERROR: the row of line 2 is longer than/,
    },
  ];
  for (const { it: name, content, error } of failing) {
    it(`${name} fails, and says why`, async () => {
      const ended = await app.take(csv(content));
      expect(ended).to.include({ status: "failed" });
      expect(ended.error).to.match(error);
      await until(async () => (await site.imports.findOne({ _id: ended.id }))?.due_at === null); // all is cleared away
    });
  }

  it("full of line ends, quotes and NUL is read row by row", async () => {
    const rows = [
      "a,{}\r\nb,{}\r\r\n",
      'c,"{""x"":""1\\n2""}"\n',
      '"d\r\ne",{}\n',
      "f\0,{}\n",
      '"g"h,{}\n',
      "i,j,k\n",
      '=1+1,"',
    ];
    const ended = await app.take(csv(head + rows.join("")));
    expect(ended.stats).to.include({ processed: 8, created_users: 4, errors: 4 });
    expect(await app.report(ended)).to.deep.equal([
      '8,has the character U+0000,"f\0,{}"',
      '9,text follows the closing quote of a cell,"gh,{}"',
      '10,"has 3 cells, the header has 2","i,j,k"',
      '11,a quoted cell does not end,"\'=1+1,"',
    ]);
    const found = await site.users.find({ app_id: app.app._id }).toArray();
    expect(found.map(({ external_id: id }) => id)).to.have.members(["a", "b", "c", "d\r\ne"]);
  });

  it("200 MB of the largest rows is read in bounded memory", async () => {
    const rows = Array.from({ length: 850 }, () => {
      const cell = randomBytes(3_000).toString("base64").repeat(60); // 240,000 characters, which gzip packs to 4,000
      return `p,"{""a"":""${cell}"}"\n`; // its quotes are wrong
    });
    const content = gzipSync(head + rows.join("") + "x,\n".repeat(20_000), { level: 1 });
    const ended = await app.take(csv(content));
    expect(ended.stats, ended.error ?? "").to.include({ processed: 20_850, errors: 850, created_users: 1 });
    expect(peakRssMiB(dispatcher.pid())).to.be.below(400); // far less than the file
  });

  it("of more than 500,000 rows fails, and what was taken stays taken", async () => {
    const { rows } = importLimits;
    const other = await startImporting(await testServers()); // nobody takes it before it is set forward
    try {
      const { body } = await other.upload(csv(`external_id\n${"x\n".repeat(rows - 2)}anna\nberta\ncarla\n`));
      const position = { rows: rows - 2, bytes: 0 };
      await other.imports.updateOne(
        { _id: body.id },
        { $set: { position, stats: { processed: rows - 2, errors: 3 } } },
      );
      await other.start("dispatcher");
      const ended = await other.ended(body.id);
      expect(ended.error).to.match(/^HS_IMPORT_TOO_LARGE: /);
      expect(ended.stats).to.deep.equal({ processed: rows - 2, errors: 3 });
    } finally {
      await other.stop();
    }
  });

  it("beyond the plan's subscribers has faulty rows; without room for its first one it fails", async () => {
    const addresses = (...names: string[]) =>
      csv(["external_id,channel,token", ...names.map((name) => `${name},email,${name}@example.com`)].join("\n"));
    const some = await app.take(addresses("a", "b", "c", "d", "e", "f", "g"));
    expect(some.stats).to.include({ created_subscriptions: 5, errors: 2 });
    expect((await app.report(some))[0]).to.equal(`7,the plan's subscribers are exhausted,"f,email,f•••@example.com"`);
    const none = await app.take(addresses("h", "a"));
    expect([none.status, none.error?.split(":")[0]]).to.deep.equal(["failed", "HS_QUOTA_EXCEEDED"]);
    expect((await app.take(addresses("a", "b"))).stats).to.include({ updated_users: 2, errors: 0 });
    expect(await users()).to.equal(5);
  });

  it("of Huawei's devices has tokens of the channel that the app says", async () => {
    const file = {
      type: "thirdparty_players",
      content: `identifier,device_type,external_user_id\n${"h".repeat(40)},13,hua\n`,
    };
    const warned = await app.take(file);
    expect(warned.stats).to.include({ warnings: 1, errors: 0 });
    await site.db
      .collection("apps")
      .updateOne({ name: app.app.name, tenant_id: app.app.tenant_id }, { $set: { import_huawei_as: "hms_push" } });
    expect((await app.take(file)).stats).to.include({ warnings: 0, created_subscriptions: 1 });
    const found = await site.subscriptions.find({ app_id: app.app._id }).toArray();
    expect(found.map(({ channel }) => channel)).to.have.members(["android_push", "hms_push"]);
  });

  it("cancelled ends with the rows that it was writing, and the next one is taken", async () => {
    const many = csv(`external_id\n${Array.from({ length: 40_000 }, (_, n) => `p${n}`).join("\n")}`);
    const { body } = await app.upload(many);
    const { body: next } = await app.upload(csv("external_id\nnext\n"));
    await until(async () => ((await app.show(body.id)).stats.processed ?? 0) > 0, 30_000, 20);
    expect((await app.show(next.id)).status).to.equal("pending");
    await app.call("POST", `${app.ofApp}/${body.id}/cancel`);
    const ended = await app.ended(body.id);
    expect(ended.error).to.match(/^HS_CANCELLED: /);
    const { created_users: created = 0 } = ended.stats;
    expect(created).to.be.within(1, 39_000);
    expect(await app.ended(next.id)).to.include({ status: "completed" });
    expect(await users()).to.equal(created + 1);
  });
});
