import { expect } from "chai";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { openS3, type S3Link } from "#core/storage/files/s3/client.ts";
import { s3Settings } from "../../../dev/servers/s3.ts";
import { anExport } from "../../support/rows/exports.ts";
import { aUser, seed } from "../../support/rows/fixtures.ts";
import { inSuite, testTiming } from "../../support/suite/soak.ts";
import { downloaded, exportCalls, rowsOf, startExporting } from "../../support/system/exports.ts";
import type { System, SystemProgram } from "../../support/system/system.ts";
import { until } from "../../support/until.ts";

/** Some seconds of work, and several parts of an upload. */
const [userCount, noteChars] = inSuite([20_000, 700], { soak: [40_000, 400] });
const halfOfParts = inSuite(2, { soak: 3 });
/** The lease, and what a busy machine needs to begin anew. */
const takenOverMs = testTiming.leaseMs + 90_000;

describe("a dispatcher that is killed in the middle of an export", function () {
  this.timeout(400_000);
  let system: System;
  let prefix: string;
  let calls: ReturnType<typeof exportCalls>;
  let dispatchers: SystemProgram[];
  let link: S3Link;

  before(async () => {
    const made = await startExporting();
    const given = s3Settings(made.servers.s3Url);
    [system, prefix] = [made, made.s3Prefix];
    link = await openS3({
      bucket: given["HERALD_S3_BUCKET"] ?? "",
      prefix,
      region: "us-east-1",
      endpoint: given["HERALD_S3_ENDPOINT"],
      credentials: {
        accessKeyId: given["HERALD_S3_ACCESS_KEY_ID"] ?? "",
        secretAccessKey: given["HERALD_S3_SECRET_ACCESS_KEY"] ?? "",
      },
    });
    const of = { tenant_id: system.tenantId, app_id: system.app._id };
    const users = Array.from({ length: userCount }, () =>
      aUser({ ...of, properties: { note: "x".repeat(noteChars) } }),
    );
    await seed(system.db, { users });
    const [api, ...others] = await Promise.all(
      (["apiserver", "dispatcher", "dispatcher"] as const).map((program) => system.start(program)),
    );
    calls = exportCalls(system, api as SystemProgram); // sound: the first that was started
    dispatchers = others;
  });
  after(async () => {
    link?.close();
    await system?.stop();
  });

  const rows = () => system.db.collection<ExportRow>("exports");
  const uploads = async (): Promise<number> => {
    const { Uploads = [] } = await link.s3.listMultipartUploads({ Bucket: link.bucket, Prefix: prefix });
    return Uploads.length;
  };
  const parts = async (): Promise<number> => {
    const { Uploads: [upload] = [] } = await link.s3.listMultipartUploads({ Bucket: link.bucket, Prefix: prefix });
    if (upload === undefined) return 0;
    const { Key, UploadId } = upload;
    const listed = await link.s3.listParts({ Bucket: link.bucket, Key, UploadId }).catch(() => null); // it has just ended
    return listed?.Parts?.length ?? 0;
  };
  const files = async (): Promise<string[]> => {
    const { Contents = [] } = await link.s3.listObjectsV2({ Bucket: link.bucket, Prefix: prefix });
    return Contents.flatMap(({ Key }) => Key ?? []);
  };

  const stages: { it: string; isReached: (row: ExportRow) => Promise<boolean> }[] = [
    { it: "as it begins", isReached: async ({ status }) => status === "running" },
    { it: "while it uploads", isReached: async () => (await uploads()) > 0 },
    { it: "when half of the file is there", isReached: async () => (await parts()) >= halfOfParts },
  ];

  for (const { it: stage, isReached } of stages)
    it(`${stage} is replaced: the file has every row once, and nothing else is left`, async () => {
      const made = anExport({ tenant_id: system.tenantId, app_id: system.app._id });
      await rows().insertOne(made);
      const now = async (): Promise<ExportRow> => (await rows().findOne({ _id: made._id })) ?? made;
      await until(async () => isReached(await now()), 60_000, 10);
      const { lease } = await now();
      const holder = dispatchers.find((one) => lease?.holder.includes(`/${one.pid()}/`));
      expect(holder, "the dispatcher that had the lease").to.not.equal(undefined);
      await holder?.kill();
      await holder?.restart();

      const ended = await calls.ended(made._id, takenOverMs);
      expect(ended).to.include({ status: "completed", row_count: userCount });
      expect((await now()).attempts).to.equal(2);
      const ids = (await rowsOf(await downloaded(ended.download_url))).map(({ id }) => id);
      expect(ids).to.have.length(userCount);
      expect(new Set(ids).size).to.equal(userCount);

      await rows().updateOne({ _id: made._id }, { $set: { expires_at: new Date(), due_at: new Date() } });
      await until(async () => (await now()).file === null);
      expect([await files(), await uploads()]).to.deep.equal([[], 0]);
    });
});
