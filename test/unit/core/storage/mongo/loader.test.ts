import { expect } from "chai";
import { loader } from "#core/storage/mongo/loader.ts";

describe("loader", () => {
  /** A store that says under which keys it was asked. */
  const store = (values: Record<string, number>) => {
    const calls: string[][] = [];
    const load = loader(async (keys) => {
      calls.push([...keys]);
      return new Map(Object.entries(values).filter(([key]) => keys.includes(key)));
    });
    return { calls, load };
  };

  it("reads what is asked for in one turn by one query, each key once", async () => {
    const { calls, load } = store({ a: 1, b: 2 });
    expect(await Promise.all(["a", "b", "a"].map(load))).to.deep.equal([1, 2, 1]);
    expect(calls).to.deep.equal([["a", "b"]]);
  });

  it("reads by one query what passes ask for after a read that they shared", async () => {
    const { calls, load } = store({ a: 1, b: 2, c: 3, d: 4 });
    const pass = async (first: string, then: string) => [await load(first), await load(then)];
    expect(await Promise.all([pass("a", "b"), pass("c", "d")])).to.deep.equal([
      [1, 2],
      [3, 4],
    ]);
    expect(calls).to.deep.equal([
      ["a", "c"],
      ["b", "d"],
    ]);
  });

  it("keeps nothing: what is asked for later is read again", async () => {
    const values = { a: 1 };
    const { calls, load } = store(values);
    await load("a");
    values.a = 2;
    expect(await load("a")).to.equal(2);
    expect(calls.length).to.equal(2);
  });

  it("answers null for what is not there", async () => {
    expect(await store({}).load("a")).to.equal(null);
  });

  it("reads at most 200 at once", async () => {
    const { calls, load } = store({});
    await Promise.all(Array.from({ length: 450 }, (_, i) => load(`key-${i}`)));
    expect(calls.map(({ length }) => length)).to.deep.equal([200, 200, 50]);
  });

  it("tells all who asked that a read failed, and reads again for the next", async () => {
    let isAway = true;
    const load = loader(async (keys) => {
      if (isAway) throw new Error("away");
      return new Map(keys.map((key) => [key, 1]));
    });
    const results = await Promise.allSettled([load("a"), load("b")]);
    expect(results.map(({ status }) => status)).to.deep.equal(["rejected", "rejected"]);
    isAway = false;
    expect(await load("a")).to.equal(1);
  });
});
