import { expect } from "chai";
import { gathered } from "../../../../dispatcher/webhooks/gathered.ts";

describe("gathered results", () => {
  it("are stored in few writes, each once and in order", async () => {
    const writes: number[][] = [];
    const results = gathered<number>(async (batch) => {
      writes.push([...batch]);
      await new Promise(setImmediate);
    });
    for (let n = 0; n < 20; n++) {
      results.add(n);
      if (n % 5 === 0) await Promise.resolve();
    }
    await results.flushed();
    expect(writes.flat()).to.deep.equal(Array.from({ length: 20 }, (_, n) => n));
    expect(writes.length).to.be.lessThan(20);
  });

  it("are stored too when they come after a write", async () => {
    const stored: number[] = [];
    const results = gathered<number>(async (batch) => void stored.push(...batch));
    results.add(1);
    await results.flushed();
    results.add(2);
    await results.flushed();
    expect(stored).to.deep.equal([1, 2]);
  });

  it("have nothing to flush when there are none", () => gathered<number>(async () => {}).flushed());

  it("tell of a write that failed", async () => {
    const results = gathered<number>(async () => Promise.reject(new Error("away")));
    results.add(1);
    const told = await results.flushed().catch((error: Error) => error.message);
    expect(told).to.equal("away");
  });
});
