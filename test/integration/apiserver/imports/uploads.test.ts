import { randomUUID } from "node:crypto";
import { readdir } from "node:fs/promises";
import { connect } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { newId } from "#core/domain/ids.ts";
import { importLimits } from "#core/schema/imports/import.ts";
import { openFiles } from "#core/storage/files/open.ts";
import { imports } from "#core/storage/imports/imports.ts";
import type { ReplyRow } from "#core/storage/service/replies.ts";
import type { Caller } from "../../../../apiserver/access/caller.ts";
import type { ReadForm } from "../../../../apiserver/http/protocol/form.ts";
import { createImport } from "../../../../apiserver/imports/create.ts";
import { tenAMinute, untilLimited } from "../../../support/api/limited.ts";
import { testServers } from "../../../support/servers/servers.ts";
import {
  type Importer,
  type ImportReply,
  type ImportSystem,
  startImporting,
  type Upload,
} from "../../../support/system/importing.ts";
import { until } from "../../../support/until.ts";

const users = { type: "csv_users", content: "external_id\nanna\n" };

/** Of an upload that is refused: its status, and the member that `details` names. */
const refusal = ({ status, body }: ImportReply) => [status, body.error.code, body.error.details["field"]];
const badFile = [400, "HS_VALIDATION_ERROR", "file"];

describe("an upload of an import", () => {
  let site: ImportSystem; // it has no dispatcher: what was uploaded waits
  let app: Importer;
  before(async () => {
    site = await startImporting(await testServers());
  });
  beforeEach(async () => {
    app = await site.other(); // each may make ten in a minute
  });
  afterEach(() => site.imports.deleteMany({}));
  after(() => site?.stop());

  const files = async (): Promise<string[]> => {
    const found = await readdir(`${site.filesDir}/imports/${app.app._id}`, {
      recursive: true,
      withFileTypes: true,
    }).catch(() => []);
    return found.filter((one) => one.isFile()).map(({ name }) => name);
  };
  const form = (parts: Record<string, string | Blob>) => {
    const body = new FormData();
    for (const [name, value] of Object.entries(parts)) body.append(name, value);
    return app.call("POST", app.ofApp, { body });
  };

  for (const isTypeLast of [false, true]) {
    it(`is taken with its type ${isTypeLast ? "behind" : "before"} the file`, async () => {
      const { status, body } = await app.upload({ ...users, name: "ü.csv", isTypeLast });
      expect([status, body.status, body.type, body.file_name]).to.deep.equal([200, "pending", "csv_users", "ü.csv"]);
      expect(body).to.deep.include({ stats: {}, progress: { read_bytes: 0, size_bytes: users.content.length } });
      expect((await app.call("GET", app.ofApp)).body.data).to.deep.equal([body]);
    });

    const wrong: [string, Omit<Upload, "isTypeLast">][] = [
      ["the header of another type", { type: "thirdparty_players", content: users.content }],
      ["no header", { type: "csv_users", content: "" }],
      [
        "a header in another encoding",
        { type: "csv_users", content: Buffer.from("external_id,stra\xdfe\n", "latin1") },
      ],
      ["a zip archive", { type: "csv_users", content: Buffer.from("PK\x03\x04....") }],
      ["UTF-16", { type: "csv_users", content: Buffer.from(`\ufeff${users.content}`, "utf16le") }],
      ["a gzip of another header", { type: "csv_users", content: gzipSync("name\nanna\n") }],
      ["a header that does not end", { type: "csv_users", content: `"${"x".repeat(300_000)}` }],
    ];
    for (const [name, upload] of wrong) {
      it(`with ${name} is refused, with its type ${isTypeLast ? "behind" : "before"} the file`, async () => {
        expect(refusal(await app.upload({ ...upload, isTypeLast }))).to.deep.equal(badFile);
        expect([await files(), await site.imports.countDocuments()]).to.deep.equal([[], 0]);
      });
    }
  }

  it("is refused without its type, with another one, without a file, or with more than these", async () => {
    const file = new Blob([users.content]);
    expect(refusal(await form({ file }))).to.deep.equal([400, "HS_VALIDATION_ERROR", "type"]);
    expect(refusal(await form({ type: "csv", file }))).to.deep.equal([400, "HS_VALIDATION_ERROR", "type"]);
    expect(refusal(await form({ type: "csv_users" }))).to.deep.equal(badFile);
    expect(refusal(await form({ type: "csv_users", file: users.content }))).to.deep.equal(badFile); // it is no file
    expect(refusal(await form({ type: "csv_users", file, name: "x" }))).to.deep.equal([
      400,
      "HS_VALIDATION_ERROR",
      "name",
    ]);
    expect([await files(), await site.imports.countDocuments()]).to.deep.equal([[], 0]);
  });

  it("is refused when it is no form", async () => {
    const json = await app.call("POST", app.ofApp, { body: "{}", headers: { "Content-Type": "application/json" } });
    expect(json.body.error).to.deep.include({
      code: "HS_UNSUPPORTED_MEDIA_TYPE",
      details: { allowed: ["multipart/form-data"] },
    });
    const headers = { "Content-Type": "multipart/form-data; boundary=x" };
    const unclosed = await app.call("POST", app.ofApp, { body: "--x\r\nContent-Disposition: form-data", headers });
    expect(refusal(unclosed)).to.deep.equal([400, "HS_VALIDATION_ERROR", "body"]);
  });

  it("is refused beyond 50 MB, whether it says its length or not, and leaves nothing", async () => {
    const content = Buffer.alloc(importLimits.fileBytes + 1, "a\n");
    content.write("external_id\n");
    const said = await app.upload({ type: "csv_users", content });
    expect([said.status, said.body.error.details]).to.deep.equal([413, { limit_bytes: importLimits.fileBytes }]);
    const unsaid = new Blob([content]).stream(); // sent in chunks
    const head = `--x\r\nContent-Disposition: form-data; name="type"\r\n\r\ncsv_users\r\n--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(Buffer.from(head)),
      pull: (controller) => controller.close(),
    });
    const both = concat(body, unsaid);
    const headers = { "Content-Type": "multipart/form-data; boundary=x" };
    const reply = await app.call("POST", app.ofApp, { body: both, headers, duplex: "half" });
    expect([reply.status, reply.body.error.code]).to.deep.equal([413, "HS_PAYLOAD_TOO_LARGE"]);
    expect([await files(), await site.imports.countDocuments()]).to.deep.equal([[], 0]);
  });

  it("that is cut in the middle leaves nothing", async () => {
    const { hostname, port } = new URL(site.apiserver.url);
    const socket = connect(Number(port), hostname);
    const part = `--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nexternal_id\n`;
    const head = `POST ${app.ofApp} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${app.token}\r\n`;
    const type = "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 1000000\r\n\r\n";
    socket.write(`${head}${type}${part}${"anna\n".repeat(20_000)}`);
    await until(async () => (await site.imports.countDocuments({ status: "uploading" })) === 1);
    await until(async () => (await files()).length === 1);
    expect((await app.call("GET", app.ofApp)).body.data).to.deep.equal([]);
    socket.destroy();
    await until(async () => (await site.imports.countDocuments()) === 0);
    expect(await files()).to.deep.equal([]);
  });

  it("that is made again with its key gives the first import", async () => {
    const key = randomUUID();
    const [first, again] = [await app.upload({ ...users, key }), await app.upload({ ...users, key })];
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect(await site.imports.countDocuments()).to.equal(1);
  });

  it("that is made again gives the first import, though that attempt was cut short before it could tell", async () => {
    const key = randomUUID();
    const first = await app.upload({ ...users, key });
    const kept = site.db.collection<ReplyRow>("idempotent_replies");
    const held = (seconds: number) => ({ reply: null, held_until: new Date(Date.now() + seconds * 1_000) });
    await kept.updateOne({ app_id: app.app._id }, { $set: held(60) });
    expect((await app.upload({ ...users, key })).body.error.code).to.equal("HS_IDEMPOTENCY_IN_PROGRESS");
    await kept.updateOne({ app_id: app.app._id }, { $set: held(-1) });
    expect((await app.upload({ ...users, key })).body).to.deep.equal(first.body);
    expect(await site.imports.countDocuments({ app_id: app.app._id })).to.equal(1);
  });

  it("keeps its file when the answer is lost that it is there", async () => {
    const clock = { now: () => new Date() };
    const signer = { sign: () => "", isSigned: () => false };
    const folder = { filesDir: site.filesDir, s3Prefix: "", s3Region: "", publicUrl: "http://127.0.0.1:1" };
    const store = imports(site.db);
    const uploaded: typeof store.uploaded = async (...given) => {
      await store.uploaded(...given);
      throw new Error("the connection was lost");
    };
    const create = createImport({
      imports: { ...store, uploaded },
      files: openFiles(folder, { signer, clock }),
      limit: async () => undefined,
      uncount: async () => undefined,
      clock,
    });
    const content = new Blob([users.content]).stream();
    const form: ReadForm = async (take) => ({
      fields: { type: users.type },
      taken: await take({ name: "a.csv", content }, { type: users.type }),
    });
    const caller = { key: { _id: "key_1" } } as Caller; // of which it reads no more
    const creation = {
      caller,
      app: app.app,
      id: newId("import", clock.now()),
      form,
      signal: AbortSignal.timeout(60_000),
    };
    expect(await create(creation).catch((error: Error) => error.message)).to.equal("the connection was lost");
    expect((await app.show(creation.id)).status).to.equal("pending");
    expect(await files()).to.deep.equal(["upload"]);
  });

  it("counts against its rate of ten a minute only when it is accepted", async () => {
    for (let n = 0; n < 12; n++)
      expect(refusal(await app.upload({ ...users, content: "nonsense" }))).to.deep.equal(badFile);
    const replies = await untilLimited(() => app.upload(users), tenAMinute);
    expect(new Set(replies.slice(0, -1).map(({ status }) => status))).to.deep.equal(new Set([200]));
  });

  it("is refused while 20 others wait, until one is cancelled", async () => {
    const { body } = await app.upload(users);
    const [row] = await site.imports.find().toArray();
    if (row === undefined) throw new Error("nothing waits");
    await site.imports.insertMany(
      Array.from({ length: 19 }, (_, n) => ({ ...row, _id: `${row._id}${n}`, due_at: null })),
    );
    const refused = await app.upload(users);
    expect([refused.status, refused.body.error.code]).to.deep.equal([429, "HS_QUOTA_EXCEEDED"]);
    expect(refused.body.error.details).to.include({ metric: "imports_pending", limit: 20, used: 20 });
    const cancelled = await app.call("POST", `${app.ofApp}/${body.id}/cancel`);
    expect(cancelled.body).to.include({ status: "failed" });
    expect(cancelled.body["error"]).to.match(/^HS_CANCELLED: /);
    expect((await app.call("POST", `${app.ofApp}/${body.id}/cancel`)).body).to.deep.equal(cancelled.body);
    expect((await app.upload(users)).status).to.equal(200);
  });
});

const concat = (...streams: ReadableStream[]): ReadableStream => {
  const { readable, writable } = new TransformStream();
  const all = async (): Promise<void> => {
    for (const stream of streams) await stream.pipeTo(writable, { preventClose: true });
    await writable.close();
  };
  all().catch(() => undefined); // the reader has gone
  return readable;
};
