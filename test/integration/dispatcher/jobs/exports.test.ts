import { expect } from "chai";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { parser } from "#core/schema/json/parser.ts";
import { PersonalData } from "#core/schema/people/data.ts";
import { eventCollection } from "#core/storage/events/events.ts";
import type { ExportRow } from "#core/storage/exports/export-row.ts";
import { exportCollection, exports } from "#core/storage/exports/exports.ts";
import { exportFilePrefix } from "#core/storage/exports/file.ts";
import { eraseOfPerson, subjectOfPerson } from "#core/storage/exports/person.ts";
import { openFiles } from "#core/storage/files/open.ts";
import type { Content, FileStore } from "#core/storage/files/store.ts";
import { inboxCollection } from "#core/storage/inbox/inboxes.ts";
import { inboxItemCollection } from "#core/storage/inbox/items.ts";
import { deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { userCollection } from "#core/storage/people/users.ts";
import { suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { s3Settings } from "../../../../dev/servers/s3.ts";
import { exportJob } from "../../../../dispatcher/jobs/exports.ts";
import { storedFacts } from "../../../support/filters/facts.ts";
import { anExport } from "../../../support/rows/exports.ts";
import { aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { testDatabase } from "../../../support/servers/database.ts";
import { type PrivateServer, privateServers } from "../../../support/servers/servers.ts";
import { rowsOf } from "../../../support/system/exports.ts";
import { until } from "../../../support/until.ts";

const of = { tenant_id: "ten_1", app_id: "app_1" };
const userCount = 8_000; // of 1.4 KB each: two parts of an upload, and the rest
const never = new AbortController().signal;
const hourMs = 3_600_000;

describe("the job of an export", () => {
  const db = testDatabase("export_job", [
    exportCollection,
    userCollection,
    subscriptionCollection,
    eventCollection,
    deliveryCollection,
    suppressionCollection,
    inboxCollection,
    inboxItemCollection,
  ]);
  let s3: PrivateServer;
  let close: () => Promise<void>;
  let files: FileStore;
  let shiftMs = 0;
  const clock = { now: () => new Date(Date.now() + shiftMs) };

  before(async () => {
    ({ s3, close } = await privateServers({ s3: true }));
    const given = s3Settings(s3.url);
    const s3Of = { s3Prefix: "test/", s3Region: "us-east-1", publicUrl: "http://127.0.0.1:1" };
    const account = {
      s3AccessKeyId: given["HERALD_S3_ACCESS_KEY_ID"] ?? "",
      s3SecretAccessKey: given["HERALD_S3_SECRET_ACCESS_KEY"] ?? "",
    };
    const bucket = { s3Bucket: given["HERALD_S3_BUCKET"] ?? "", s3Endpoint: given["HERALD_S3_ENDPOINT"] ?? "" };
    const signer = { sign: () => "", isSigned: () => false };
    files = openFiles({ ...s3Of, ...account, ...bucket }, { signer, clock });
    const users = Array.from({ length: userCount }, () => aUser({ ...of, properties: { note: "x".repeat(1_400) } }));
    await seed(db(), { users });
  });
  beforeEach(async () => {
    shiftMs = 0;
    await rows().deleteMany({});
    await files.removeOld("exports/", new Date(Date.now() + hourMs), never);
  });
  after(async () => {
    await files?.close();
    await close?.();
  });

  const rows = () => db().collection<ExportRow>("exports");
  const add = async (over: Partial<ExportRow> = {}): Promise<ExportRow> => {
    const row = anExport({ ...of, ...over });
    await rows().insertOne(row);
    return row;
  };
  const now = async ({ _id }: ExportRow): Promise<ExportRow> => (await rows().findOne({ _id })) ?? anExport(of);
  /** Runs an export as a dispatcher would whose file store does something with what is written. */
  const run = async (
    { _id }: ExportRow,
    {
      through,
      termMs = timings.usual.leaseMs,
      mostRows,
    }: { through?: (content: Content) => Content; termMs?: number; mostRows?: number } = {},
  ): Promise<void> => {
    const [metrics, log] = [createMetrics("dispatcher"), createLog({ program: "dispatcher", level: "fatal" })];
    const common = { clock, metrics, stopping: never };
    const write: FileStore["write"] = (key, content, options) =>
      files.write(key, through?.(content) ?? content, options);
    const own = {
      db: db(),
      factsOf: storedFacts(db()),
      files: { ...files, write },
      exportHours: 24,
      mail: null,
      log,
      ...(mostRows !== undefined && { mostRows }),
    };
    const lease = { holder: _id, log, timing: { leaseMs: termMs } };
    await exportJob({ ...common, ...own }).run(_id, { ...common, ...lease }, never);
  };
  /** Does something once so much has been written. */
  const after_ = (bytes: number, act: () => Promise<unknown>) =>
    async function* (content: Content): AsyncGenerator<Uint8Array> {
      let written = 0;
      for await (const chunk of content) {
        yield chunk;
        if (written < bytes && written + chunk.byteLength >= bytes) await act();
        written += chunk.byteLength;
      }
    };
  const textOf = async (row: ExportRow): Promise<string> => {
    const chunks: Uint8Array[] = [];
    const content = await files.read((await now(row)).file?.key ?? "", { signal: never });
    for await (const chunk of content ?? []) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  };
  const fileOf = async (row: ExportRow): Promise<Record<string, string>[]> => rowsOf(await textOf(row));
  /** Files and unfinished uploads of an export. */
  const removeAll = (row: ExportRow): Promise<number> =>
    files.removeOld(exportFilePrefix(row), new Date(Date.now() + hourMs), never);

  it("waits while S3 is away, and goes on when it is back, without a gap or a doubled row", async () => {
    const row = await add({ place: 0 });
    await run(row, { through: after_(6_000_000, () => s3.kill()) });
    const waiting = await now(row);
    expect(waiting.place, "it was begun: another may wait in its place").to.equal(undefined);
    expect(waiting).to.include({ status: "pending", attempts: 0, error: null });
    expect(waiting.set_aside).to.equal(undefined);
    await s3.start();
    expect((await now(row)).due_at, "nothing has woken it").to.deep.equal(waiting.due_at);
    expect(waiting.due_at?.getTime()).to.be.above(Date.now() + 5_000);
    shiftMs = (waiting.due_at?.getTime() ?? 0) - Date.now();
    await run(row);
    expect(await now(row)).to.include({ status: "completed", row_count: userCount });
    const ids = (await fileOf(row)).map(({ id }) => id);
    expect(new Set(ids).size).to.equal(userCount);
    expect(ids).to.have.length(userCount);
    expect(await removeAll(row), "the file, and no part of another").to.equal(1);
  });

  describe("of the data of a person", () => {
    const personal = (user: string, over: Partial<ExportRow> = {}) =>
      add({ type: "personal_data", person: user, subject: subjectOfPerson(user), ...over });
    const erase = (userId: string) => {
      const person = { tenantId: of.tenant_id, appId: of.app_id, userId, keys: new Set([userId]), at: clock.now() };
      return eraseOfPerson(collectionOf(db(), exportCollection), { ...person, isLast: true, isErased: true });
    };

    it("writes all of it as one document, however much, and names them no longer", async () => {
      const user = aUser({ ...of, external_id: "export-me", alias_keys: ["external_id:export-me"] });
      const mail = aSubscription({ ...of, user_id: user._id, channel: "email", token: "me@example.com" });
      await seed(db(), { users: [user], subscriptions: [mail] });
      const at = new Date("2026-11-01T10:00:00Z");
      const event = { ...of, name: "note", person: [user._id], occurred_at: at, received_at: at, source: "api" };
      const events = Array.from({ length: 1_203 }, (_, n) => ({ ...event, _id: `evt_${n}`, properties: `{"n":${n}}` }));
      await db().collection<{ _id: string }>("events").insertMany(events);
      const row = await personal(user._id);
      await run(row);
      const made = await now(row);
      expect(made).to.include({ status: "completed", row_count: events.length, person: null });
      expect(made.file?.key).to.match(/\.json$/);
      const written = JSON.parse(await textOf(row)) as PersonalData;
      parser(PersonalData)(written);
      expect(written.user).to.include({ id: user._id, external_id: "export-me" });
      expect(written.addresses.map(({ token }) => token)).to.deep.equal(["me@example.com"]);
      expect(new Set(written.events.map(({ properties }) => JSON.stringify(properties))).size).to.equal(events.length);
      expect(JSON.stringify(made)).not.to.include(user._id);
      await erase(user._id);
      const over = await now(row);
      expect([over.expires_at, over.due_at]).to.deep.equal([over.due_at, over.due_at]);
      expect(over.due_at?.getTime()).to.be.at.most(Date.now());
      await run(row);
      expect((await now(row)).file).to.equal(null);
    });

    it("fails when they are gone, and ends when they are deleted while it waits", async () => {
      const gone = await personal("usr_gone");
      await run(gone);
      expect(await now(gone)).to.include({ status: "failed", error: "HS_NOT_FOUND: the user is gone", person: null });
      const waiting = await personal("usr_waiting", { place: 3 });
      await erase("usr_waiting");
      expect(await now(waiting))
        .to.include({ status: "failed", person: null, fence: 1 })
        .and.not.have.property("place");
    });
  });

  it("is given up when there is no store of files for a day", async () => {
    const row = await add({ created_at: new Date(Date.now() - 25 * hourMs) });
    await run(row, { through: after_(1, () => s3.kill()) });
    await s3.start();
    const { status, error } = await now(row);
    expect([status, error?.split(":")[0]]).to.deep.equal(["failed", "HS_UNAVAILABLE"]);
  });

  it("removes the file when it expires, with what killed attempts had left", async () => {
    const row = await add();
    await run(row);
    const made = await now(row);
    expect(made.expires_at?.getTime()).to.be.closeTo(Date.now() + 24 * hourMs, 60_000);
    expect(made.due_at).to.deep.equal(made.expires_at);
    async function* left(): AsyncGenerator<Uint8Array> {
      yield Buffer.from("id");
    }
    await files.write(`${exportFilePrefix(row)}9.csv`, left(), { contentType: "text/csv", signal: never });
    shiftMs = 24 * hourMs + 1;
    await run(row);
    const over = await now(row);
    expect(over).to.deep.include({ status: "completed", row_count: userCount, file: null, due_at: null });
    expect(await removeAll(row)).to.equal(0);
  });

  it("fails without a file when there are too many rows", async () => {
    const row = await add();
    await run(row, { mostRows: userCount - 1 });
    const failed = await now(row);
    expect(failed.error).to.match(/^HS_EXPORT_TOO_LARGE: /);
    expect(failed).to.deep.include({ status: "failed", file: null, row_count: null });
    await run(row);
    expect((await now(row)).due_at).to.equal(null);
    expect(await removeAll(row)).to.equal(0);
  });

  it("has as many rows as there may be", async () => {
    const row = await add();
    await run(row, { mostRows: userCount });
    expect(await now(row)).to.include({ status: "completed", row_count: userCount });
  });

  it("fails when it was begun three times and never ended", async () => {
    const row = await add({ status: "running", attempts: 3 });
    await run(row);
    expect((await now(row)).error).to.match(/^HS_INTERNAL_ERROR: /);
  });

  it("is begun anew after a kill, and counts from zero", async () => {
    const row = await add({ status: "running", attempts: 2, row_count: 5_000 });
    await run(row);
    expect(await now(row)).to.include({ status: "completed", attempts: 3, row_count: userCount });
  });

  it("ends without a file when it is cancelled while it is made", async () => {
    const row = await add();
    const termMs = 2_000;
    const cancel = async (): Promise<void> => {
      const { lease } = await now(row);
      const times = { now: clock.now(), cleanAt: clock.now() };
      expect(await exports(db()).cancel(row, "HS_CANCELLED: x", times)).not.to.equal(null);
      await until(async () => clock.now() > (lease?.until ?? clock.now())); // by then it knows
    };
    await run(row, { termMs, through: after_(2_000_000, cancel) });
    expect(await now(row)).to.deep.include({ status: "failed", error: "HS_CANCELLED: x", file: null });
    await run(row);
    expect(await now(row)).to.deep.include({ status: "failed", error: "HS_CANCELLED: x", due_at: null });
    expect(await removeAll(row)).to.equal(0);
  });

  it("is one of two of its app, however many are begun at once; the others wait, the oldest is next", async () => {
    const all = [await add(), await add(), await add(), await add()];
    let [open, most] = [0, 0];
    const counted = async function* (content: Content): AsyncGenerator<Uint8Array> {
      most = Math.max(most, ++open);
      yield* content;
      open--;
    };
    await Promise.all(all.map((row) => run(row, { through: counted })));
    for (let round = 0; round < all.length; round++) {
      shiftMs += 20_000; // those that wait are due again
      const waiting = await rows().find({ status: "pending" }).toArray();
      await Promise.all(waiting.map((row) => run(row, { through: counted })));
    }
    expect(most).to.be.within(1, 2);
    expect(await rows().countDocuments({ status: "completed" })).to.equal(all.length);
  });

  it("has the next one begin when it ends", async () => {
    const first = await add();
    const [next, last] = [
      await add({ due_at: new Date(Date.now() + 15_000) }),
      await add({ due_at: new Date(Date.now() + 15_000) }),
    ];
    await run(first);
    await until(async () => ((await now(next)).due_at?.getTime() ?? 0) <= Date.now());
    expect((await now(last)).due_at).to.deep.equal(last.due_at);
  });
});
