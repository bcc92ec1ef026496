import { fork } from "node:child_process";
import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import { dataVersion } from "#core/storage/migrations/data-version.ts";
import { DataVersionError, migrate } from "#core/storage/migrations/migrate.ts";
import type { Migration } from "#core/storage/migrations/migration.ts";
import { testDatabase } from "../../../../support/servers/database.ts";
import { testServers } from "../../../../support/servers/servers.ts";
import { planted } from "./planted.ts";

const count = 2_500; // five pages

describe("migrations", () => {
  const db = testDatabase("migrations", []);
  const fixture = new URL("migrating.fixture.ts", import.meta.url);

  const run = (migrations: readonly Migration[], signal = new AbortController().signal): Promise<void> =>
    migrate(db(), migrations, { log: pino({ enabled: false }), signal });
  const rows = () => db().collection<{ _id: number; name?: string; changed?: number }>("planted");
  const insert = (from: number, to: number) =>
    rows().insertMany(Array.from({ length: to - from }, (_, i) => ({ _id: from + i, name: `row ${from + i}` })));
  const changedTwice = () =>
    rows().countDocuments({ changed: 2, title: /^row/, length: { $gt: 4 }, name: { $exists: false } });

  beforeEach(async () => {
    await Promise.all([rows().deleteMany({}), db().collection("data_version").deleteMany({})]);
    await insert(0, count);
  });

  it("change every document once, whoever begins them, and are finished for good", async () => {
    await Promise.all([run(planted), run(planted), run(planted)]);
    expect(await changedTwice()).to.equal(count);
    expect(await dataVersion(db())).to.include({ version: 3, readable_from: 2 });
    await insert(count, count + 1);
    await run(planted);
    expect(await rows().findOne({ _id: count })).to.not.have.property("title");
  });

  it("are gone on with after a kill: nothing is changed twice", async () => {
    const child = fork(fixture, [(await testServers()).mongodbUrl, db().databaseName, `${count / 2}`]);
    await once(child, "message");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(await dataVersion(db())).to.include({ version: 2, readable_from: 1 });
    const untouched = await rows().countDocuments({ changed: 1 });
    expect(untouched).to.be.within(1, count - 1);
    await run(planted);
    expect(await changedTwice()).to.equal(count);
  });

  /** The first migration, beside a program that writes `most` documents of the earlier shape behind the place where it is. */
  const besideWriter = (most: number): Migration[] => {
    const [first, second] = planted as [Migration, Migration];
    let written = 0;
    const change: Migration["change"] = (row) => {
      if (written < most) writes.push(rows().insertOne({ _id: -++written, name: "row of the release before" }));
      return first.change(row);
    };
    return [{ ...first, change }, second];
  };
  const writes: Promise<unknown>[] = [];
  afterEach(() => Promise.all(writes.splice(0)));

  it("change what is written as before while they run", async () => {
    await run(besideWriter(3));
    expect(await changedTwice()).to.equal(count + 3);
  });

  it("say when documents are written as before without end", async () => {
    const [first, second] = planted as [Migration, Migration];
    const again = { $set: { name: "written as before again" } };
    const change: Migration["change"] = (row) => (row["_id"] === 0 ? again : first.change(row));
    const failure = await run([{ ...first, change }, second]).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataVersionError);
    expect((failure as Error).message).to.match(
      /"planted" .* before version 2: stop the programs of the earlier release/,
    );
    expect(await dataVersion(db())).to.include({ version: 1 });
  });

  it("stop between two pages when they are to", async () => {
    const stopping = new AbortController();
    const [first] = planted as [Migration, Migration];
    let seen = 0;
    const change = (row: object) => {
      if (++seen === 600) stopping.abort();
      return first.change(row);
    };
    const failure = await run([{ ...first, change }], stopping.signal).catch((error: unknown) => error);
    expect(failure).to.have.property("name", "AbortError");
    expect(await rows().countDocuments({ changed: 1 })).to.equal(1_000);
    expect(await dataVersion(db())).to.include({ version: 1 });
  });

  it("let the release before work with their result, and refuse the one before that", async () => {
    await run(planted);
    await run(planted.slice(0, 1));
    const failure = await run([]).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(DataVersionError);
    expect((failure as Error).message).to.match(
      /version 3 .* version 2 and later; this one is of version 1: run a later/,
    );
  });
});
