import { expect } from "chai";
import fc from "fast-check";
import pino from "pino";
import { localBuckets, rateState } from "../../../../apiserver/limits/rate.ts";
import { takeFrom, takeToken } from "../../../../apiserver/limits/take-token.ts";

describe("localBuckets", () => {
  const bucket = { capacity: 10, perSecond: 5 };

  it("never lets through more than the burst and what has flowed in since", () => {
    const steps = fc.array(fc.nat({ max: 400 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(steps, (gapsMs) => {
        let nowMs = 1_000;
        let passed = 0;
        const buckets = localBuckets({ max: 10, clock: { now: () => new Date(nowMs) } });
        for (const gapMs of gapsMs) {
          nowMs += gapMs;
          if (buckets.take("a", bucket).isAllowed) passed++;
        }
        return passed <= bucket.capacity + ((nowMs - 1_000) / 1000) * bucket.perSecond;
      }),
    );
  });

  it("says when to come again, and then lets through", () => {
    let nowMs = 0;
    const buckets = localBuckets({ max: 10, clock: { now: () => new Date(nowMs) } });
    for (let n = 0; n < 10; n++) expect(buckets.take("a", bucket)).to.include({ isAllowed: true, remaining: 9 - n });
    const refused = buckets.take("a", bucket);
    expect(refused).to.deep.equal({ isAllowed: false, limit: 10, remaining: 0, resetSeconds: 1 });
    nowMs += refused.resetSeconds * 1000;
    expect(buckets.take("a", bucket).isAllowed).to.equal(true);
  });

  it("keeps names apart and forgets the least recently used", () => {
    const buckets = localBuckets({ max: 2, clock: { now: () => new Date(0) } });
    const one = { capacity: 1, perSecond: 1 };
    expect(["a", "b", "a", "c", "b"].map((name) => buckets.take(name, one).isAllowed)).to.deep.equal([
      true,
      true,
      false,
      true,
      true,
    ]);
  });

  it("is not filled by a clock that steps back", () => {
    let nowMs = 10_000;
    const buckets = localBuckets({ max: 2, clock: { now: () => new Date(nowMs) } });
    const one = { capacity: 1, perSecond: 1 };
    buckets.take("a", one);
    nowMs -= 5_000;
    expect(buckets.take("a", one).isAllowed).to.equal(false);
  });
});

describe("rateState", () => {
  for (const { it: name, tokens, isAllowed, resetSeconds } of [
    { it: "counts down to the full bucket", tokens: 4.2, isAllowed: true, resetSeconds: 2 },
    { it: "is 0 for a full bucket", tokens: 10, isAllowed: true, resetSeconds: 0 },
    { it: "counts down to one token when refused", tokens: 0.1, isAllowed: false, resetSeconds: 1 },
  ]) {
    it(`${name}: reset`, () => {
      expect(rateState({ capacity: 10, perSecond: 5 }, tokens, isAllowed).resetSeconds).to.equal(resetSeconds);
    });
  }
});

describe("takeToken", () => {
  it("lets through a replica's share while the script cannot run, and the whole again afterwards", async () => {
    let isAway = true;
    const counted: string[] = [];
    const takeShared = takeFrom({
      takeShared: async () => {
        if (isAway) throw new Error("away");
        return [1, 99_000];
      },
      replicas: 4,
      clock: { now: () => new Date(0) },
      log: pino({ level: "silent" }),
      count: (...decision) => counted.push(decision.join(" ")),
    });
    const take = takeToken(takeShared);
    const states = await Promise.all(Array.from({ length: 30 }, () => take("key_1", 100)));
    expect(states.filter((state) => state.isAllowed)).to.have.length(25);
    expect(states.every((state) => state.isDegraded && state.limit === 25)).to.equal(true);
    isAway = false;
    expect(await take("key_1", 100)).to.deep.include({ isAllowed: true, isDegraded: false, limit: 100, remaining: 99 });
    expect(counted.filter((one) => one === "limited local")).to.have.length(5);
    expect(counted.at(-1)).to.equal("allowed redis");
  });
});
