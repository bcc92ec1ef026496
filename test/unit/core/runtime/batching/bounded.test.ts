import { expect } from "chai";
import * as fc from "fast-check";
import { mapBounded, semaphore } from "#core/runtime/batching/bounded.ts";

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe("semaphore", () => {
  it("lets in as many as it has places, the next in order of coming", async () => {
    const gate = semaphore(1);
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((n) => gate.run(async () => void (await tick(), order.push(n)))));
    expect(order).to.deep.equal([1, 2, 3]);
  });

  it("gives the place back when the work fails", async () => {
    const gate = semaphore(1);
    await gate.run(() => Promise.reject(new Error("no"))).catch(() => undefined);
    expect(await gate.run(() => Promise.resolve("in"))).to.equal("in");
  });

  it("lets a waiting caller go when its signal aborts, without losing the place", async () => {
    const gate = semaphore(1);
    await gate.acquire();
    const leaving = new AbortController();
    const waiting = gate.acquire(leaving.signal).catch((error: Error) => error.message);
    leaving.abort(new Error("gone"));
    expect(await waiting).to.equal("gone");
    gate.release();
    await gate.acquire();
  });
});

describe("mapBounded", () => {
  it("keeps order and never exceeds its limit", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat(100), { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        async (items, limit) => {
          let now = 0;
          let most = 0;
          const results = await mapBounded(items, limit, async (n) => {
            most = Math.max(most, ++now);
            await tick();
            now--;
            return n * 2;
          });
          expect(results).to.deep.equal(items.map((n) => n * 2));
          expect(most).to.equal(Math.min(limit, items.length));
        },
      ),
      { numRuns: 30 },
    );
  });

  it("starts nothing after a failure and waits for what is under way", async () => {
    const begun: number[] = [];
    let finished = 0;
    const failing = mapBounded([1, 2, 3, 4], 2, async (n) => {
      begun.push(n);
      if (n === 1) throw new Error("one");
      await tick();
      finished++;
    });
    expect(await failing.catch((error: Error) => error.message)).to.equal("one");
    expect({ begun, finished }).to.deep.equal({ begun: [1, 2], finished: 1 });
  });

  it("starts nothing after an abort", async () => {
    const stop = new AbortController();
    const begun: number[] = [];
    const run = mapBounded(
      [1, 2, 3],
      1,
      async (n) => {
        begun.push(n);
        stop.abort(new Error("stop"));
      },
      stop.signal,
    );
    expect(await run.catch((error: Error) => error.message)).to.equal("stop");
    expect(begun).to.deep.equal([1]);
  });
});
