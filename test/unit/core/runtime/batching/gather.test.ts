import { expect } from "chai";
import { gather } from "#core/runtime/batching/gather.ts";
import { until } from "../../../../support/until.ts";

type Weigh = { of: (item: number) => number; most: number };

describe("gather", () => {
  const setUp = (options: {
    most: number;
    inFlight: number;
    everyMs?: number | (() => number);
    isOfTurn?: boolean;
    weigh?: Weigh;
  }) => {
    const writes: { items: readonly number[]; end: (error?: Error) => void }[] = [];
    const write = (items: readonly number[]): Promise<number[]> => {
      const { promise, resolve, reject } = Promise.withResolvers<number[]>();
      writes.push({
        items,
        end: (error) => (error === undefined ? resolve(items.map((item) => item * 10)) : reject(error)),
      });
      return promise;
    };
    return { writes, add: gather({ write, ...options }) };
  };

  it("writes at once while there is room, and what comes meanwhile in one batch, each with its own result", async () => {
    const { writes, add } = setUp({ most: 10, inFlight: 1 });
    const results = [add(1), add(2), add(3)];
    expect(writes.map(({ items }) => items)).to.deep.equal([[1]]);
    writes[0]?.end();
    await settled();
    expect(writes.map(({ items }) => items)).to.deep.equal([[1], [2, 3]]);
    writes[1]?.end();
    expect(await Promise.all(results)).to.deep.equal([10, 20, 30]);
  });

  it("keeps to the weight of a write, and writes what weighs more alone", async () => {
    const { writes, add } = setUp({ most: 3, inFlight: 1, weigh: { of: (item) => item, most: 10 } });
    const results = [0, 4, 6, 1, 11, 2, 2, 2, 2].map(add);
    for (let at = 0; at < 6; at++) {
      writes[at]?.end();
      await settled();
    }
    expect(writes.map(({ items }) => items)).to.deep.equal([[0], [4, 6], [1], [11], [2, 2, 2], [2]]);
    expect(await Promise.all(results)).to.have.length(9);
  });

  it("does not wait for the time of the next write once enough has come by weight", async () => {
    const { writes, add } = setUp({ most: 10, inFlight: 1, everyMs: 60_000, weigh: { of: (item) => item, most: 10 } });
    void add(1);
    writes[0]?.end();
    await settled();
    void add(9);
    expect(writes).to.have.length(1);
    void add(1);
    expect(writes.map(({ items }) => items)).to.deep.equal([[1], [9, 1]]);
    writes[1]?.end();
  });

  it("asks before each write how long it is to wait", async () => {
    let everyMs = 60_000;
    const { writes, add } = setUp({ most: 10, inFlight: 1, everyMs: () => everyMs });
    void add(1);
    writes[0]?.end();
    await settled();
    everyMs = 0;
    void add(2);
    expect(writes.map(({ items }) => items)).to.deep.equal([[1], [2]]);
    writes[1]?.end();
  });

  it("keeps to the largest write and to the writes under way", async () => {
    const { writes, add } = setUp({ most: 2, inFlight: 2 });
    const results = Array.from({ length: 7 }, (_, n) => add(n));
    expect(writes.map(({ items }) => items)).to.deep.equal([[0], [1]]);
    for (let at = 0; at < 5; at++) {
      writes[at]?.end();
      await settled();
    }
    expect(writes.map(({ items }) => items)).to.deep.equal([[0], [1], [2, 3], [4, 5], [6]]);
    expect(await Promise.all(results)).to.deep.equal([0, 10, 20, 30, 40, 50, 60]);
  });

  it("writes as often as it is to, what comes meanwhile in one batch, and not later once there is enough", async () => {
    const { writes, add } = setUp({ most: 3, inFlight: 10, everyMs: 200 });
    const items = () => writes.map((one) => one.items);
    const results = [add(1), add(2), add(3)];
    expect(items()).to.deep.equal([[1]]);
    results.push(add(4));
    expect(items(), "enough").to.deep.equal([[1], [2, 3, 4]]);
    results.push(add(5), add(6));
    await settled();
    expect(writes).to.have.length(2);
    await until(() => writes.length === 3);
    expect(items()[2]).to.deep.equal([5, 6]);
    for (const { end } of writes) end();
    expect(await Promise.all(results)).to.deep.equal([10, 20, 30, 40, 50, 60]);
  });

  it("waits for those of the same turn of the event loop", async () => {
    const { writes, add } = setUp({ most: 3, inFlight: 10, isOfTurn: true });
    const results = [add(1), add(2), add(3), add(4)];
    await Promise.resolve().then(() => results.push(add(5)));
    expect(writes.map(({ items }) => items)).to.deep.equal([[1, 2, 3]]);
    await new Promise((resolve) => setImmediate(resolve));
    expect(writes.map(({ items }) => items)).to.deep.equal([
      [1, 2, 3],
      [4, 5],
    ]);
    for (const { end } of writes) end();
    expect(await Promise.all(results)).to.deep.equal([10, 20, 30, 40, 50]);
  });

  it("fails those of a failed write only, and goes on", async () => {
    const { writes, add } = setUp({ most: 10, inFlight: 1 });
    const results = Promise.allSettled([add(1), add(2), add(3)]);
    writes[0]?.end(new Error("away"));
    await settled();
    writes[1]?.end();
    expect((await results).map(({ status }) => status)).to.deep.equal(["rejected", "fulfilled", "fulfilled"]);
  });

  it("writes each by itself when one of them cannot be written", async () => {
    const asked: (readonly number[])[] = [];
    const add = gather({
      write: async (items: readonly number[]) => {
        asked.push(items);
        if (items.includes(3)) throw new Error("3 cannot be written");
        return items.map((item) => item * 10);
      },
      most: 10,
      inFlight: 1,
      isOfOne: (error) => (error as Error).message.startsWith("3"),
    });
    const results = await Promise.allSettled([add(1), add(2), add(3), add(4)]);
    expect(asked).to.deep.equal([[1], [2, 3, 4], [2], [3], [4]]);
    expect(results.map(({ status }) => status)).to.deep.equal(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
  });
});

const settled = () => new Promise((resolve) => setImmediate(resolve));
