import { mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { systemClock } from "#core/domain/clock.ts";
import { signer } from "#core/domain/signer.ts";
import { Unavailable } from "#core/errors.ts";
import { type FileSettings, openFiles } from "#core/storage/files/open.ts";
import { openS3 } from "#core/storage/files/s3/client.ts";
import type { Content, FileStore } from "#core/storage/files/store.ts";
import { testDir } from "../../../dev/files/paths.ts";
import { s3Settings } from "../../../dev/servers/s3.ts";
import { testServers } from "../../support/servers/servers.ts";

const signal = new AbortController().signal;
const csv = { contentType: "text/csv", signal };
const inAMinute = (): Date => new Date(Date.now() + 60_000);
const made = signer([Buffer.alloc(32, 1)]);
const settings = { s3Prefix: `test-${process.pid}/`, s3Region: "us-east-1", publicUrl: "http://127.0.0.1:1" };

async function* chunks(...sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (const [i, size] of sizes.entries()) yield Buffer.alloc(size, i + 1);
}

const bytes = async (content: Content | null): Promise<Buffer> => {
  const all: Uint8Array[] = [];
  for await (const chunk of content ?? []) all.push(Buffer.from(chunk));
  return Buffer.concat(all);
};

const s3Of = (url: string): FileSettings => {
  const given = s3Settings(url);
  return {
    ...settings,
    s3Bucket: given["HERALD_S3_BUCKET"] ?? "",
    s3Endpoint: given["HERALD_S3_ENDPOINT"] ?? "",
    s3AccessKeyId: given["HERALD_S3_ACCESS_KEY_ID"] ?? "",
    s3SecretAccessKey: given["HERALD_S3_SECRET_ACCESS_KEY"] ?? "",
  };
};

/** What every store of files promises: core/storage/files/store.ts. */
const keepsFiles = (name: string, open: () => Promise<FileStore>): Mocha.Suite =>
  describe(`files kept in ${name}`, () => {
    let files: FileStore;
    before(async () => {
      files = await open();
    });
    afterEach(async () => {
      await files.removeOld("exports/", inAMinute(), signal);
    });
    after(() => files.close());

    it("are read as they were written, whole or from an offset", async () => {
      const sizes = [3_000_001, 6_000_001, 4_000_001] as const; // three parts, none of which ends with a chunk
      const written = await files.write("exports/app_1/exp_1.csv", chunks(...sizes), csv);
      const whole = await bytes(chunks(...sizes));
      expect(written).to.deep.equal({ sizeBytes: whole.byteLength });
      expect(await files.sizeOf("exports/app_1/exp_1.csv", signal)).to.equal(whole.byteLength);
      expect((await bytes(await files.read("exports/app_1/exp_1.csv", { signal }))).equals(whole)).to.equal(true);
      const rest = await bytes(await files.read("exports/app_1/exp_1.csv", { offset: 9_000_000, signal }));
      expect(rest.equals(whole.subarray(9_000_000))).to.equal(true);
      expect(
        await bytes(await files.read("exports/app_1/exp_1.csv", { offset: whole.byteLength, signal })),
      ).to.have.length(0);
    });

    it("may be empty, and are replaced whole", async () => {
      await files.write("exports/app_1/exp_1.csv", chunks(10, 20), csv);
      await files.write("exports/app_1/exp_1.csv", chunks(), csv);
      expect(await files.sizeOf("exports/app_1/exp_1.csv", signal)).to.equal(0);
    });

    it("leave nothing when their content fails half-way", async () => {
      async function* failing(): AsyncGenerator<Uint8Array> {
        yield* chunks(6_000_000, 6_000_000);
        throw new Error("the source failed");
      }
      const written = files.write("exports/app_1/exp_1.csv", failing(), csv);
      expect(await written.catch((error: Error) => error.message)).to.equal("the source failed");
      expect(await files.sizeOf("exports/app_1/exp_1.csv", signal)).to.equal(null);
      expect(await files.removeOld("exports/", inAMinute(), signal)).to.equal(0);
    });

    it("are not there once they were removed, how often ever", async () => {
      await files.write("exports/app_1/exp_1.csv", chunks(10), csv);
      for (let i = 0; i < 2; i++) await files.remove("exports/app_1/exp_1.csv", signal);
      expect(await files.read("exports/app_1/exp_1.csv", { signal })).to.equal(null);
      expect(await files.sizeOf("exports/app_1/exp_1.csv", signal)).to.equal(null);
    });

    it("are removed by prefix and age", async () => {
      for (const key of ["app_1/exp_1-1", "app_1/exp_1-2", "app_1/exp_10-1", "app_2/exp_3-1"])
        await files.write(`exports/${key}.csv`, chunks(1), csv);
      expect(await files.removeOld("exports/", new Date(Date.now() - 60_000), signal)).to.equal(0);
      expect(await files.removeOld("exports/app_1/exp_1-", inAMinute(), signal)).to.equal(2);
      expect(await files.removeOld("exports/app_1/", inAMinute(), signal)).to.equal(1);
      expect(await files.sizeOf("exports/app_2/exp_3-1.csv", signal)).to.equal(1);
      expect(await files.removeOld("imports/app_9/", inAMinute(), signal)).to.equal(0);
    });

    it("have keys of one form only", async () => {
      for (const key of ["exports/../x", "/exports/x", "exports", "exports//x", "other/x", "exports/.x"])
        expect(await files.sizeOf(key, signal).catch((error: Error) => error.name), key).to.equal("TypeError");
    });
  });

keepsFiles("S3", async () => openFiles(s3Of((await testServers()).s3Url), { signer: made, clock: systemClock }));

let dir: string;
keepsFiles("a folder", async () => {
  dir = await mkdtemp(join(testDir, "files-"));
  return openFiles({ ...settings, filesDir: dir }, { signer: made, clock: systemClock });
});
after(() => rm(dir, { recursive: true, force: true }));

describe("files kept in S3", () => {
  const key = "exports/app_1/exp_1.csv";
  let given: FileSettings;
  let files: FileStore;
  before(async () => {
    given = s3Of((await testServers()).s3Url);
    files = openFiles(given, { signer: made, clock: systemClock });
  });
  after(() => files.close());

  it("are downloaded at their address as what it says, and at no other", async () => {
    await files.write(key, chunks(10), csv);
    const expiresAt = inAMinute();
    const address = await files.addressOf(key, {
      fileName: "users.csv",
      contentType: "text/csv; charset=utf-8",
      expiresAt,
    });
    const reply = await fetch(address);
    expect(reply.headers.get("content-disposition")).to.equal('attachment; filename="users.csv"');
    expect(reply.headers.get("content-type")).to.equal("text/csv; charset=utf-8");
    expect((await reply.arrayBuffer()).byteLength).to.equal(10);
    expect((await fetch(address.replace("exp_1", "exp_2"))).status).to.equal(403);
    await files.remove(key, signal);
  });

  it("end what a killed process was uploading, before it can become the file", async () => {
    const { s3Prefix, s3Region: region, s3Bucket: bucket = "", s3Endpoint: endpoint } = given;
    const credentials = { accessKeyId: given.s3AccessKeyId ?? "", secretAccessKey: given.s3SecretAccessKey ?? "" };
    const link = await openS3({ bucket, prefix: s3Prefix, region, endpoint, credentials });
    const begin = (): Promise<unknown> => link.s3.createMultipartUpload({ Bucket: bucket, Key: `${s3Prefix}${key}` });
    await begin();
    await files.write(key, chunks(6_000_000), csv);
    expect(await files.removeOld("exports/", inAMinute(), signal), "the file alone").to.equal(1);
    await begin();
    expect(await files.removeOld("exports/", inAMinute(), signal), "the upload alone").to.equal(1);
    link.close();
  });

  it("are unavailable while no server answers, or it refuses", async () => {
    const elsewhere = [
      { ...given, s3Endpoint: "http://127.0.0.1:1" },
      { ...given, s3SecretAccessKey: "wrong" },
    ];
    for (const settings of elsewhere) {
      const away = openFiles(settings, { signer: made, clock: systemClock });
      expect(await away.sizeOf(key, signal).catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
      expect(await away.write(key, chunks(1), csv).catch((error: unknown) => error)).to.be.instanceOf(Unavailable);
      await away.close();
    }
  });

  it("give up with the reason of the signal", async () => {
    const stopped = AbortSignal.abort(new Error("stopping"));
    const written = files.write(key, chunks(6_000_000), { ...csv, signal: stopped });
    expect(await written.catch((error: Error) => error.message)).to.equal("stopping");
  });
});
