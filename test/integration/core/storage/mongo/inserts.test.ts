import { expect } from "chai";
import { insertNew } from "#core/storage/mongo/duplicate.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

describe("inserting what is unique", () => {
  const db = testDatabase("core_inserts", []);

  it("lets one of several at the same moment have a key, and fails for none of the others", async () => {
    const rows = db().collection<{ _id: string; app: string; name: string }>("names");
    await rows.createIndex({ app: 1, name: 1 }, { unique: true });
    // As many as there are programs that may meet: those of one program wait for each other in `oneWriter`. Some rounds of a
    // hundred make the store look for a deadlock.
    for (let round = 0; round < 20; round++) {
      const inserters = Array.from({ length: 4 }, (_, n) =>
        insertNew(rows, { _id: `${round}/${n}`, app: "a", name: `n${round}` }),
      );
      expect((await Promise.all(inserters)).filter(Boolean)).to.have.length(1);
    }
  });
});
