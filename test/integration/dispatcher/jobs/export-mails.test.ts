import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { exportCollection } from "#core/storage/exports/exports.ts";
import { openFiles } from "#core/storage/files/open.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { testDir } from "../../../../dev/files/paths.ts";
import { selfSigned } from "../../../../dev/simulators/kit/certificate.ts";
import type { Simulator } from "../../../../dev/simulators/kit/control.ts";
import { startSmtp } from "../../../../dev/simulators/smtp.ts";
import type { ExportMailsDeps } from "../../../../dispatcher/exports/mails.ts";
import { exportJob } from "../../../../dispatcher/jobs/exports.ts";
import { storedFacts } from "../../../support/filters/facts.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const never = new AbortController().signal;
const to = "anna@shop.example";

describe("the mail about an export", () => {
  const db = testDatabase("export_mails", [exportCollection, deliveryCollection, messageCollection]);
  let dir: string;
  let files: FileStore;
  let smtp: Simulator;
  before(async () => {
    dir = await mkdtemp(join(testDir, "files-"));
    const signer = { sign: (text: string) => `${text.length}`, isSigned: () => true };
    files = openFiles(
      { filesDir: dir, publicUrl: "https://herald.example", s3Prefix: "", s3Region: "" },
      { signer, clock: systemClock },
    );
    smtp = await startSmtp({ port: 0, tls: selfSigned() });
  });
  after(async () => {
    await smtp?.stop();
    await rm(dir, { recursive: true, force: true });
  });

  const rows = () => db().collection<ExportRow>(exportCollection.name);
  const now = async ({ _id }: ExportRow): Promise<ExportRow> => (await rows().findOne({ _id })) ?? anExport(of);
  const add = async (): Promise<ExportRow> => {
    const row = anExport({ ...of, type: "deliveries", filters: { message_id: "msg_1" }, mail_to: to });
    await rows().insertOne(row);
    return row;
  };
  /** Runs the job once, whenever it is due. */
  const run = async ({ _id }: ExportRow, mail: ExportMailsDeps["mail"]): Promise<ExportRow> => {
    await rows().updateOne({ _id }, { $set: { due_at: systemClock.now() } });
    const log = createLog({ program: "dispatcher", level: "fatal" });
    const common = { clock: systemClock, metrics: createMetrics("dispatcher"), stopping: never, log };
    const job = exportJob({ ...common, db: db(), factsOf: storedFacts(db()), files, exportHours: 24, mail });
    await job.run(_id, { ...common, holder: _id, timing: { leaseMs: timings.usual.leaseMs } }, never);
    for (const part of job.parts) await part.stop(never);
    return now(anExport({ ...of, _id }));
  };
  const server = () => ({ url: `${smtp.url}?tls.rejectUnauthorized=false`, from: "herald@example.com" });

  it("has the address of its file, and is sent once, later where the mail server is away", async () => {
    const row = await add();
    expect(await run(row, server())).to.include({ status: "completed", mail_to: to });
    const waiting = await run(row, { ...server(), url: "smtp://127.0.0.1:1" });
    expect(waiting).to.include({ status: "completed", mail_to: to });
    expect(waiting.due_at?.getTime(), "before the file is gone").to.be.below(waiting.expires_at?.getTime() ?? 0);
    expect(smtp.log.page()).to.deep.equal([]);
    const mailed = await run(row, server());
    expect(mailed).to.deep.include({ status: "completed", mail_to: null, due_at: mailed.expires_at });
    expect(mailed.file, "it stays until then").not.to.equal(null);
    const [sent, ...more] = smtp.log.page();
    expect([sent?.address, more]).to.deep.equal([to, []]);
    const { text } = JSON.parse(sent?.body ?? "{}") as { text: string };
    expect(text)
      .to.include("https://herald.example/")
      .and.include(mailed.file?.key.split("/").at(-1) ?? "");
  });

  it("is sent to nobody by an installation without a mail server, and names nobody then", async () => {
    const row = await add();
    await run(row, null);
    expect(await run(row, null)).to.include({ status: "completed", mail_to: null });
  });
});
