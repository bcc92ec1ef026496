import { expect } from "chai";
import { allCollections } from "#core/storage/collections.ts";
import { ensureKnownIndexes } from "#core/storage/known-indexes.ts";
import { IndexError } from "#core/storage/mongo/indexes.ts";
import { testDatabase } from "../../../support/servers/database.ts";

const minuteMs = 60_000;
const now = new Date();
const inMinutes = (minutes: number): Date => new Date(now.getTime() + minutes * minuteMs);

describe("indexes that a program knows of from another", () => {
  const db = testDatabase("known_indexes", []);
  const users = () => db().collection("users");
  const hasAlias = async (): Promise<boolean> => (await users().indexes()).some(({ name }) => name === "alias");
  const notes = () => db().collection<{ _id: string; declared: string }>("data_version");

  before(() => Promise.all([1, 2, 3].map(() => ensureKnownIndexes(db(), now))));

  it("are made, by the first of those that start at the same time", async () => {
    const made = await Promise.all(allCollections.map(async ({ name, indexes }) => [name, indexes.length] as const));
    for (const [name, count] of made)
      if (count > 0) expect((await db().collection(name).indexes()).length, name).to.equal(count + 1);
    expect(await notes().countDocuments({ _id: "indexes" })).to.equal(1);
  });

  it("are looked at again after an hour, before it by a program that declares others, and when the clock was put back", async () => {
    const isMadeAnew = async (at: Date): Promise<boolean> => {
      await users().dropIndex("alias");
      await ensureKnownIndexes(db(), at);
      const isThere = await hasAlias();
      await ensureKnownIndexes(db(), inMinutes(1_000_000)); // for the next one
      await ensureKnownIndexes(db(), now);
      return isThere;
    };
    expect([await isMadeAnew(inMinutes(59)), await isMadeAnew(inMinutes(61))]).to.deep.equal([false, true]);
    expect(await isMadeAnew(inMinutes(-61)), "put back").to.equal(true);
    await notes().updateOne({ _id: "indexes" }, { $set: { declared: "what another release declares" } });
    expect(await isMadeAnew(inMinutes(1)), "another release").to.equal(true);
  });

  it("are not known where one differs: each start is refused until that is mended", async () => {
    await users().dropIndex("alias");
    await users().createIndex({ app_id: 1, alias_keys: 1 }, { name: "alias" });
    for (const minutes of [61, 62]) {
      const failure = await ensureKnownIndexes(db(), inMinutes(minutes)).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(IndexError).with.property("message").that.contains("users.alias is");
    }
    await users().dropIndex("alias");
    await ensureKnownIndexes(db(), inMinutes(63));
    expect(await hasAlias()).to.equal(true);
  });
});
