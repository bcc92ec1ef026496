import { expect } from "chai";
import { later } from "#core/runtime/batching/later.ts";

const aLater = (over: Partial<Parameters<typeof later<number>>[0]> = {}) => {
  const writes: number[][] = [];
  const errors: unknown[] = [];
  const queue = later<number>({
    write: async (items) => void writes.push([...items]),
    everyMs: 5,
    most: 3,
    waitingAtMost: 5,
    onError: (err, items) => void errors.push([err, items]),
    ...over,
  });
  return { queue, writes, errors };
};

const soon = () => AbortSignal.timeout(1_000);

describe("what is written later", () => {
  it("is written in one batch, in the order of coming, no more than fit into one write", async () => {
    const { queue, writes } = aLater({ everyMs: 1_000 });
    for (const n of [1, 2]) await queue.add(n);
    expect(writes).to.deep.equal([]);
    for (const n of [3, 4]) await queue.add(n);
    await queue.stop(soon());
    expect(writes).to.deep.equal([[1, 2, 3], [4]]);
  });

  it("holds up whoever adds more while a write is slow", async () => {
    const { promise: slow, resolve } = Promise.withResolvers<void>();
    const { queue } = aLater({ write: () => slow });
    for (let n = 0; n < 8; n++) await queue.add(n); // three are being written, five wait
    const waiting = queue.add(9);
    const { promise: turn, resolve: pass } = Promise.withResolvers<string>();
    setImmediate(() => pass("it waits"));
    expect(await Promise.race([waiting, turn])).to.equal("it waits");
    resolve();
    await waiting;
    await queue.stop(soon());
  });

  it("goes on after a write that failed, and says how many items it cost", async () => {
    let calls = 0;
    const broken = new Error("away");
    const write = () => (++calls === 1 ? Promise.reject(broken) : Promise.resolve());
    const { queue, errors } = aLater({ write });
    for (const n of [1, 2, 3, 4]) await queue.add(n);
    await queue.stop(soon());
    expect(calls).to.equal(2);
    expect(errors).to.deep.equal([[broken, 3]]);
  });
});
