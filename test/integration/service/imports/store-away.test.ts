import { expect } from "chai";
import { s3Settings } from "../../../../dev/servers/s3.ts";
import { type PrivateServer, privateServers, testServers } from "../../../support/servers/servers.ts";
import { type ImportSystem, startImporting } from "../../../support/system/importing.ts";
import type { SystemProgram } from "../../../support/system/system.ts";
import { until } from "../../../support/until.ts";

const rows = 4_000;
const content = ["external_id", ...Array.from({ length: rows }, (_, n) => `person-${n}`)].join("\n");

describe("imports while S3 does not answer", () => {
  let site: ImportSystem;
  let dispatcher: SystemProgram;
  let s3: PrivateServer;
  let close: (() => Promise<void>) | undefined;

  before(async () => {
    const own = await privateServers({ s3: true });
    ({ s3, close } = own);
    site = await startImporting(await testServers(), { env: { HERALD_FILES_DIR: "", ...s3Settings(s3.url) } });
    dispatcher = await site.start("dispatcher");
  });
  after(async () => {
    await site?.stop();
    await close?.();
  });

  it("are refused with 503 where S3 is away, and leave nothing", async () => {
    await s3.stop();
    const { status, body } = await site.upload({ type: "csv_users", content });
    expect([status, body.error.code]).to.deep.equal([503, "HS_UNAVAILABLE"]);
    await s3.start();
    await until(async () => (await site.imports.countDocuments()) === 0);
  });

  it("go on where S3 was away when they were begun: each row is taken once", async () => {
    await dispatcher.kill();
    const { status, body } = await site.upload({ type: "csv_users", content });
    expect(status).to.equal(200);
    await s3.stop();
    await dispatcher.restart();
    await until(async () => ((await site.imports.findOne({ _id: body.id }))?.fence ?? 0) > 0, 30_000); // it was begun, in vain
    expect((await site.show(body.id)).status).to.not.be.oneOf(["completed", "failed"]);
    await s3.start();
    const { stats, status: ended } = await site.ended(body.id, 90_000);
    expect([ended, stats]).to.deep.include("completed");
    expect(stats).to.include({ processed: rows, created_users: rows, errors: 0 });
    expect(await site.users.countDocuments({ app_id: site.app._id })).to.equal(rows);
  });
});
