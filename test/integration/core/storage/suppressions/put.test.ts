import { expect } from "chai";
import { MongoClient } from "mongodb";
import { newId } from "#core/domain/ids.ts";
import {
  type SuppressionRow,
  type Suppressions,
  suppressionCollection,
  suppressions,
} from "#core/storage/suppressions/suppressions.ts";
import { testDatabase } from "../../../../support/servers/database.ts";
import { testServers } from "../../../../support/servers/servers.ts";

const anEntry = (subject: string, more: Partial<SuppressionRow> = {}): SuppressionRow => {
  const now = new Date();
  return {
    _id: newId("suppression", now),
    tenant_id: "t",
    app_id: "a",
    channel: null,
    subject,
    address: null,
    external_id: subject,
    user_id: null,
    people: [],
    reason: "manual",
    source: "api",
    note: null,
    categories: null,
    expires_at: null,
    revision: 0,
    created_at: now,
    updated_at: now,
    ...more,
  };
};

describe("entries of the suppression list are stored", () => {
  const db = testDatabase("suppressions_put", [suppressionCollection]);
  const clients: MongoClient[] = [];
  let commands = 0;

  /** What another process has of the list. */
  const anotherProcess = async (): Promise<Suppressions> => {
    const mongo = new MongoClient((await testServers()).mongodbUrl, { monitorCommands: true });
    clients.push(mongo);
    mongo.on("commandStarted", ({ commandName }) => {
      if (!["hello", "ping", "endSessions"].includes(commandName)) commands++;
    });
    return suppressions(mongo.db(db().databaseName));
  };

  beforeEach(() => {
    commands = 0;
  });
  afterEach(() => Promise.all(clients.splice(0).map((one) => one.close())));

  it("by a number of commands that does not grow with the entries", async () => {
    const store = await anotherProcess();
    const made = Array.from({ length: 1_000 }, (_, i) => anEntry(`s${i}`));
    await store.put(made, new Date());
    expect(commands).to.be.within(1, 9); // 500 subjects are read by one
    const raised = made.map((row) => ({ ...row, reason: "legal" as const }));
    const stored = await store.put(raised, new Date());
    expect(commands).to.be.within(2, 18);
    expect(new Set(stored.map(({ reason }) => reason))).to.deep.equal(new Set(["legal"]));
  });

  it("together when many come at once, so that no writer waits for all others", async () => {
    const store = await anotherProcess();
    const ends = Array.from({ length: 200 }, (_, i) => new Date(Date.now() + 60_000 * (i + 1)));
    const all = await Promise.all(ends.map((end) => store.put([anEntry("one", { expires_at: end })], new Date())));
    expect(new Set(all.flat().map(({ _id }) => _id))).to.have.length(1);
    expect(commands).to.be.below(100);
    const [kept] = await store.put([anEntry("one", { expires_at: ends[0] ?? null })], new Date());
    expect(kept?.expires_at).to.deep.equal(ends.at(-1));
  });

  it("whoever of two processes is quicker", async () => {
    const both = [await anotherProcess(), await anotherProcess()];
    const ends = Array.from({ length: 60 }, (_, i) => new Date(Date.now() + 60_000 * (i + 1)));
    const entries = (end: Date) => ["b", "a", "c"].map((subject) => anEntry(subject, { expires_at: end }));
    const all = await Promise.all(ends.flatMap((end) => both.map((store) => store.put(entries(end), new Date()))));
    expect(new Set(all.flat().map(({ _id }) => _id))).to.have.length(3);
  });
});
