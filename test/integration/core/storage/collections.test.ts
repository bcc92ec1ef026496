import { expect } from "chai";
import { allCollections, ensureIndexes } from "#core/storage/collections.ts";
import { IndexError } from "#core/storage/mongo/indexes.ts";
import { testDatabase } from "../../../support/servers/database.ts";

describe("ensureIndexes", () => {
  const db = testDatabase("core_all", []);

  it("makes every index of an empty database, from three programs at once, and again changes nothing", async () => {
    await Promise.all([1, 2, 3].map(() => ensureIndexes(db())));
    await ensureIndexes(db());
    for (const { name, indexes } of allCollections) {
      if (indexes.length === 0) continue;
      const found = await db().collection(name).indexes();
      expect(
        found.map((index) => index.name),
        name,
      ).to.include.members(indexes.map((index) => index.name));
    }
  });

  it("drops an index of an earlier release that would be in the way, and keeps what it holds", async () => {
    const messages = db().collection("messages");
    await messages.createIndex({ app_id: 1, idempotency_key: 1 }, { name: "idempotency", unique: true });
    await Promise.all([1, 2, 3].map(() => ensureIndexes(db())));
    const names = (await messages.indexes()).map(({ name }) => name);
    expect(names).to.include("idempotency_of_operation").and.not.include("idempotency");
  });

  it("refuses to start on an index that is not what its source says", async () => {
    const users = db().collection("users");
    await users.dropIndex("alias");
    await users.createIndex({ app_id: 1, alias_keys: 1 }, { name: "alias" });
    const failure = await ensureIndexes(db()).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(IndexError).with.property("message").that.contains("users.alias is");
  });
});
