import { expect } from "chai";
import { type Collection } from "mongodb";
import { readWithin } from "#core/storage/mongo/read-within.ts";
import { testDatabase } from "../../../../support/servers/database.ts";

type Row = { _id: number; text: string };

describe("a read within a number of bytes", () => {
  const db = testDatabase("read_within", []);
  let rows: Collection<Row>;

  before(async () => {
    rows = db().collection<Row>("rows");
    await rows.insertMany(Array.from({ length: 20 }, (_, n) => ({ _id: n, text: "x".repeat(100_000) })));
  });

  const read = async (mostBytes: number, after = -1) => {
    const { rows: found, isWhole } = await readWithin(rows.find({ _id: { $gt: after } }).sort({ _id: 1 }), mostBytes);
    return { ids: found.map(({ _id }) => _id), isWhole };
  };

  it("gives all when they fit", async () => {
    const { ids, isWhole } = await read(10_000_000);
    expect([ids.length, isWhole]).to.deep.equal([20, true]);
  });

  it("gives as many as fit, in order, and says that there are more", async () => {
    expect(await read(450_000)).to.deep.equal({ ids: [0, 1, 2, 3], isWhole: false });
    expect(await read(450_000, 17)).to.deep.equal({ ids: [18, 19], isWhole: true });
  });

  it("gives one that is too large by itself", async () => {
    expect(await read(1)).to.deep.equal({ ids: [0], isWhole: false });
  });

  it("gives nothing of nothing", async () => {
    expect(await read(1, 100)).to.deep.equal({ ids: [], isWhole: true });
  });
});
