import { expect } from "chai";
import { paced } from "#core/runtime/batching/paced.ts";

const earlyMs = 3; // a timer of Node can end a little before its time
const never = new AbortController().signal;

describe("what is paced", () => {
  it("goes on in order, and no faster than its rate", async () => {
    const turn = paced(() => 100);
    const beganMs = performance.now();
    const order: number[] = [];
    await Promise.all(Array.from({ length: 11 }, async (_, n) => (await turn(never)) && order.push(n)));
    expect(order).to.deep.equal([...Array.from({ length: 11 }).keys()]);
    expect(performance.now() - beganMs).to.be.at.least(100 - earlyMs); // ten gaps of 10 ms
  });

  it("does not make up for a pause by a burst", async () => {
    const turn = paced(() => 20);
    await turn(never);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const beganMs = performance.now();
    await Promise.all([turn(never), turn(never)]);
    expect(performance.now() - beganMs).to.be.at.least(50 - earlyMs);
  });

  it("is given up when its signal aborts", async () => {
    const turn = paced(() => 1);
    const cut = new AbortController();
    await turn(cut.signal);
    const waiting = turn(cut.signal);
    cut.abort();
    expect(await waiting).to.equal(false);
    expect(await paced(() => 1)(cut.signal)).to.equal(false);
  });
});
