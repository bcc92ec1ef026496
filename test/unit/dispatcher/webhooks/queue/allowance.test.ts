import { expect } from "chai";
import { allowance } from "../../../../../dispatcher/webhooks/queue/allowance.ts";
import { aWebhook } from "../../../../support/rows/webhooks.ts";

describe("the allowance of an endpoint", () => {
  const row = aWebhook({ max_in_flight: 20 });
  const trusted = (isTrusted = true) => allowance({ row, isTrusted: () => isTrusted }, 0);

  /** Requests that end one after another, each after so long. */
  const requests = (of: ReturnType<typeof allowance>, everyMs: number, tookMs: number, waiting: number) => {
    for (let nowMs = everyMs; nowMs <= 2_000; nowMs += everyMs) of.ended(nowMs, { beganMs: nowMs - tookMs, waiting });
  };

  it("gives one that is not trusted what it may have under way, for a quarter of a second", () => {
    const given = trusted(false);
    expect([given.free(), given.limitMs(0), given.isWorthWaiting(0, 0)]).to.deep.equal([20, 250, false]);
  });

  it("gives a busy one what it answers in a second, within bounds", () => {
    for (const [everyMs, perSecond, free] of [
      [1, 1_000, 600],
      [2, 500, 500],
      [100, 10, 20], // and what may be under way at least
    ] as const) {
      const given = trusted();
      requests(given, everyMs, everyMs, 1);
      expect([given.perSecond(), given.free()], `${everyMs} ms`).to.deep.equal([perSecond, free]);
    }
  });

  it("takes one for slow until it has answered some", () => {
    const given = trusted();
    expect(given.free()).to.equal(50);
    for (let n = 1; n <= 40; n++) given.ended(n, { beganMs: n - 1, waiting: 1 });
    expect(given.free()).to.equal(600);
  });

  it("gives one that had little to do what it could answer", () => {
    const [quick, slow] = [trusted(), trusted()];
    requests(quick, 100, 10, 0);
    requests(slow, 100, 1_000, 0);
    expect([quick.perSecond(), slow.perSecond()]).to.deep.equal([2_000, 20]);
  });

  it("waits for one that answers, unless it has been behind for long", () => {
    const given = trusted();
    given.ended(1_000, { beganMs: 990, waiting: 1 });
    expect(given.isWorthWaiting(1_499, 14_999)).to.equal(true);
    expect(given.isWorthWaiting(1_499, 15_000)).to.equal(false);
    expect(given.isWorthWaiting(1_500, 0), "it is silent").to.equal(false);
    expect([given.limitMs(1_499), given.limitMs(1_500)]).to.deep.equal([5_000, 500]);
  });
});
