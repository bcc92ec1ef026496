import { expect } from "chai";
import { retryConflicts } from "#core/storage/mongo/duplicate.ts";
import { removePages } from "#core/storage/work/removal-pages.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

type Row = { _id: string; owner: string; count: number };

describe("removing documents by pages", () => {
  const db = testDatabase("core_removal_pages", []);

  it("makes a page again that the store gave up for another's writes of the same documents", async () => {
    const rows = db().collection<Row>("rows");
    await rows.createIndex({ owner: 1 }, { name: "owner" });
    const ids = Array.from({ length: 100 }, (_, n) => String(n).padStart(3, "0"));
    // In another order than a page has: in most rounds each waits for the other, until the store gives one of them up.
    const writes = ids.toReversed().map((_id) => ({ updateOne: { filter: { _id }, update: { $inc: { count: 1 } } } }));
    for (let round = 0; round < 5; round++) {
      await rows.insertMany(ids.map((_id) => ({ _id, owner: "a", count: 0 })));
      const [isEmpty] = await Promise.all([
        removePages<Row>(rows, { filter: { owner: "a" }, hint: "owner", pages: 2 }),
        retryConflicts(() => rows.bulkWrite(writes, { ordered: false })),
      ]);
      expect(isEmpty).to.equal(true);
      expect(await rows.countDocuments()).to.equal(0);
    }
  });
});
