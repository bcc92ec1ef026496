import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { type Db, MongoClient } from "mongodb";
import type { ImportedAddress, ImportedPerson, ImportedRow } from "#core/domain/imports/row.ts";
import { ensureIndexes } from "#core/storage/collections.ts";
import { type ImportedPeople, importedPeople } from "#core/storage/imports/people.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import type { OptedOut } from "#core/storage/suppressions/opt-outs.ts";
import { importBatch } from "../../../../dispatcher/imports/batch.ts";
import type { ImportBatch } from "../../../../dispatcher/imports/import-batch.ts";
import { aSubscription, aUser, seed } from "../../../support/rows/fixtures.ts";
import { testServers } from "../../../support/servers/servers.ts";

const now = new Date("2026-11-23T12:00:00.000Z");
const of = { tenantId: "ten_1", appId: "app_1" };
const owned = { tenant_id: of.tenantId, app_id: of.appId };

const batch = (over: Partial<ImportBatch> = {}): ImportBatch => ({
  of,
  importId: "imp_1",
  number: 0,
  idsAt: now,
  now,
  left: null,
  ...over,
});

const person = (externalId: string | null, over: Partial<ImportedPerson> = {}): ImportedPerson => ({
  externalId,
  tags: {},
  properties: {},
  ...over,
});
const mail = (token: string, over: Partial<ImportedAddress> = {}): ImportedAddress => ({
  channel: "email",
  token,
  status: null,
  device: {},
  ...over,
});
const row = (who: ImportedPerson, address: ImportedAddress | null = null): ImportedRow => ({
  kind: "row",
  person: who,
  address,
  skipped: null,
  notes: [],
});
const csv = { cells: [], raw: "", fault: null };
const lines = (rows: readonly ImportedRow[]) =>
  rows.map((imported, i) => ({ line: i + 2, imported, csv: { ...csv, line: i + 2 } }));

describe("a batch of an import", function () {
  let client: MongoClient;
  let db: Db;
  let people: ImportedPeople;
  const optedOut: OptedOut[] = [];
  before(async () => {
    client = await MongoClient.connect((await testServers()).mongodbUrl);
    db = client.db(`batches_${randomUUID().slice(0, 8)}`);
    await ensureIndexes(db);
    people = importedPeople(db);
  });
  afterEach(async () => {
    optedOut.length = 0;
    await db.collection("users").deleteMany({});
    await db.collection("subscriptions").deleteMany({});
  });
  after(async () => {
    await db?.dropDatabase();
    await client?.close();
  });

  const users = () => db.collection<UserRow>("users").find().sort({ external_id: 1 }).toArray();
  const subscriptions = () => db.collection<SubscriptionRow>("subscriptions").find().sort({ token: 1 }).toArray();
  const take = async (rows: readonly ImportedRow[], over: Partial<ImportBatch> = {}, by = people) =>
    importBatch({ people: by, keepOptOuts: async (_of, _source, out) => void optedOut.push(...out) })(
      batch(over),
      lines(rows),
    );

  const some = [
    row(person("anna", { sessions: 2, tags: { plan: "pro" } }), mail("anna@example.com")),
    row(person(null), mail("nobody@example.com")),
    row(person("anna", { sessions: 3, tags: { city: "Köln" } }), mail("anna@work.example")),
    row(person("berta")),
  ];
  const ofSome = { created_users: 3, updated_users: 0, created_subscriptions: 3, processed: 4, anonymous: 1 };

  it("comes to the same when it is taken again, whatever a kill has left of it", async () => {
    const untilSubscriptions = { ...people, addSubscriptions: () => Promise.reject(new Error("killed")) };
    const isKilled = await take(some, {}, untilSubscriptions).catch((error: Error) => error.message);
    expect([isKilled, (await users()).length, (await subscriptions()).length]).to.deep.equal(["killed", 3, 0]);
    for (const attempt of ["in part", "whole", "once more"])
      expect((await take(some)).stats, attempt).to.include(ofSome);
    expect(
      (await users()).map(({ external_id, session_count, tags }) => [external_id, session_count, tags]),
    ).to.deep.equal([
      [null, undefined, {}],
      ["anna", 5, { city: "Köln", plan: "pro" }],
      ["berta", undefined, {}],
    ]);
    expect((await subscriptions()).map(({ token, external_id }) => [token, external_id])).to.deep.equal([
      ["anna@example.com", "anna"],
      ["anna@work.example", "anna"],
      ["nobody@example.com", null],
    ]);
  });

  it("keeps the opt-outs that its rows say, by the last one of an address, of those whom it makes and finds", async () => {
    await take([row(person("anna"), mail("anna@example.com", { status: "subscribed" }))]);
    await take([
      row(person("anna"), mail("anna@example.com", { status: "unsubscribed" })),
      row(person("berta"), mail("berta@example.com", { status: "unsubscribed" })),
      row(person("carla"), mail("carla@example.com", { status: "unsubscribed" })),
      row(person("carla"), mail("carla@example.com", { status: "subscribed" })),
      row(person("dora"), mail("dora@example.com")),
    ]);
    expect(optedOut.map(({ token }) => token)).to.deep.equal(["anna@example.com", "berta@example.com"]);
    const owners = new Map((await users()).map((one) => [one.external_id, one._id]));
    expect(optedOut.map(({ user_id }) => user_id)).to.deep.equal(["anna", "berta"].map((one) => owners.get(one)));
  });

  it("counts a user once in an import, and adds the sessions of a later batch to theirs, once", async () => {
    await take(some);
    const more = [row(person("anna", { sessions: 4 })), row(person("carla"))];
    for (let attempt = 0; attempt < 2; attempt++)
      expect((await take(more, { number: 4 })).stats).to.include({ created_users: 1, updated_users: 0 });
    expect((await users()).find(({ external_id }) => external_id === "anna")?.session_count).to.equal(9);
    const again = await take([...some, ...more], { importId: "imp_2" });
    expect(again.stats).to.include({ created_users: 0, updated_users: 4, created_subscriptions: 0 });
    expect((await users()).find(({ external_id }) => external_id === "anna")?.session_count).to.equal(9);
  });

  it("keeps what rows of a later activity have said, in this batch and in one before", async () => {
    const [early, late] = [new Date("2024-01-01T00:00:00Z"), new Date("2025-01-01T00:00:00Z")];
    await take([
      row(person("anna", { lastActiveAt: late, tags: { plan: "new" }, language: "de" })),
      row(person("anna", { lastActiveAt: early, firstSeenAt: early, tags: { plan: "old", a: "1" }, language: "en" })),
    ]);
    await take([row(person("anna", { lastActiveAt: early, tags: { plan: "older", b: "2" }, language: "fr" }))], {
      number: 2,
    });
    const [anna] = await users();
    expect(anna).to.deep.include({ tags: { plan: "new", a: "1", b: "2" }, language: "de", first_seen_at: early });
    expect(anna?.last_active_at).to.deep.equal(late);
  });

  it("has an address of two rows as one subscription, of the user who is named", async () => {
    const rows = [
      row(person(null), mail("a@example.com")),
      row(person("anna"), mail("a@example.com", { device: { model: "x" } })),
    ];
    expect((await take(rows)).stats).to.include({ created_users: 1, created_subscriptions: 1 });
    expect(await subscriptions()).to.have.length(1);
    expect((await subscriptions())[0]).to.deep.include({ external_id: "anna", device: { model: "x" } });
  });

  it("moves an address that the app has to the row's user, and leaves an opt-out as it is", async () => {
    const [old, dora] = [aUser({ ...owned, external_id: "old" }), aUser({ ...owned, external_id: "dora" })];
    const one = aSubscription({
      ...owned,
      user_id: old._id,
      channel: "email",
      token: "a@example.com",
      status: "unsubscribed",
    });
    await seed(db, { users: [old, dora], subscriptions: [one] });
    const { stats } = await take([row(person("dora"), mail("a@example.com"))]);
    expect(stats).to.include({ created_users: 0, updated_users: 1, created_subscriptions: 0 });
    const [moved] = await subscriptions();
    expect(moved).to.include({ _id: one._id, user_id: dora._id, external_id: "dora", status: "unsubscribed" });
  });

  const statuses = [
    { is: "subscribed", wanted: "unsubscribed", becomes: ["unsubscribed", "import"] },
    { is: "subscribed", wanted: "invalid", becomes: ["invalid", "import"] },
    { is: "unsubscribed", wanted: "subscribed", becomes: ["subscribed", null] },
    { is: "invalid", wanted: "unsubscribed", becomes: ["invalid", "token_invalid"] },
    { is: "invalid", wanted: null, becomes: ["invalid", "token_invalid"] },
  ] as const;
  for (const { is, wanted, becomes } of statuses) {
    it(`makes of a subscription that is ${is} and that a row says to be ${wanted ?? "nothing"}: ${becomes[0]}`, async () => {
      const user = aUser({ ...owned, external_id: "anna" });
      const reason = is === "invalid" ? "token_invalid" : null;
      const one = aSubscription({
        ...owned,
        user_id: user._id,
        channel: "email",
        token: "a@example.com",
        status: is,
        status_reason: reason,
      });
      await seed(db, { users: [user], subscriptions: [one] });
      await take([row(person("anna"), mail("a@example.com", { status: wanted }))]);
      const [found] = await subscriptions();
      expect([found?.status, found?.status_reason]).to.deep.equal(becomes);
    });
  }

  it("leaves a device alone that was active here after the file knew it", async () => {
    const user = aUser({ ...owned, external_id: "anna" });
    const one = aSubscription({
      ...owned,
      user_id: user._id,
      channel: "email",
      token: "a@example.com",
      last_active_at: now,
    });
    await seed(db, { users: [user], subscriptions: [one] });
    await take([
      row(
        person("anna", { lastActiveAt: new Date("2020-01-01T00:00:00Z") }),
        mail("a@example.com", { status: "invalid" }),
      ),
    ]);
    expect((await subscriptions())[0]).to.include({ status: "subscribed" });
  });

  it("is decided again when somebody else writes one of its users meanwhile", async () => {
    const anna = aUser({ ...owned, external_id: "anna", tags: { a: "1" } });
    await seed(db, { users: [anna] });
    let isFirst = true;
    const beside: ImportedPeople = {
      ...people,
      changeUsers: async (changes) => {
        const tags = { a: "1", b: "2" };
        if (isFirst)
          await db.collection<UserRow>("users").updateOne({ _id: anna._id }, { $set: { tags }, $inc: { revision: 1 } });
        isFirst = false;
        return people.changeUsers(changes);
      },
    };
    const { stats } = await take([row(person("anna", { tags: { c: "3" } })), row(person("berta"))], {}, beside);
    expect(stats).to.include({ created_users: 1, updated_users: 1 });
    expect((await users())[0]?.tags).to.deep.equal({ a: "1", b: "2", c: "3" });
  });

  it("takes no more subscriptions than the plan has room for, nor more than 100 of a user", async () => {
    const rows = [
      row(person("a"), mail("a@example.com", { status: "invalid" })),
      row(person("b"), mail("b@example.com")),
      row(person("c"), mail("c@example.com")),
    ];
    const result = await take(rows, { left: 1 });
    expect(result).to.deep.include({ refused: [4], left: 0 });
    expect(result.stats).to.include({ created_users: 2, created_subscriptions: 2, errors: 1 });
    const many = Array.from({ length: 102 }, (_, n) => row(person("d"), mail(`d${n}@example.com`)));
    expect((await take(many, { number: 3 })).stats).to.include({ created_subscriptions: 100, errors: 2 });
    expect((await take(many.slice(100), { number: 105 })).stats).to.include({ created_subscriptions: 0, errors: 2 });
  });
});
