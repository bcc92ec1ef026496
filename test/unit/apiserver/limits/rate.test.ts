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
    expect(refused).to.deep.equal({ isAllowed: false, limit: 10, remaining: 0, resetSeconds: 1, windowSeconds: 2 });
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
      takeShared: async (wanted) => {
        if (isAway) throw new Error("away");
        return wanted.map(({ count }) => ({ taken: count, thousandths: 99_000 }));
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

  /** Buckets as Redis has them, and what was asked of them. */
  const setUp = (tokens: Record<string, number>) => {
    const commands: { name: string; count: number }[][] = [];
    const site = { now: new Date(0), commands };
    const take = takeFrom({
      takeShared: async (wanted) => {
        commands.push(wanted.map(({ name, count }) => ({ name, count })));
        return wanted.map(({ name, count }) => {
          const taken = Math.min(count, Math.floor(tokens[name] ?? 0));
          tokens[name] = (tokens[name] ?? 0) - taken;
          return { taken, thousandths: tokens[name] * 1_000 };
        });
      },
      replicas: 1,
      clock: { now: () => site.now },
      log: pino({ level: "silent" }),
      count: () => undefined,
    });
    return { site, tokens, take };
  };
  const bucket = { capacity: 10, perSecond: 2 };

  it("takes the tokens of requests that come at once in one command, and tells each what was left behind it", async () => {
    const { site, take } = setUp({ a: 3.25, b: 9 });
    const states = await Promise.all(["a", "a", "b", "a", "a", "a"].map((name) => take(name, bucket)));
    expect(states.map(({ isAllowed, remaining }) => [isAllowed, remaining])).to.deep.equal([
      [true, 2],
      [true, 1],
      [true, 8],
      [true, 0],
      [false, 0],
      [false, 0],
    ]);
    const counts = { a: 5, b: 1 };
    expect(site.commands).to.deep.equal([Object.entries(counts).map(([name, count]) => ({ name, count }))]);
  });

  it("does not ask for a bucket that it knows to be empty, until a token has flowed in", async () => {
    const { site, tokens, take } = setUp({ a: 0.25 });
    const at = async (ms: number) => {
      site.now = new Date(ms);
      const { isAllowed, remaining, resetSeconds } = await take("a", bucket);
      return { isAllowed, remaining, resetSeconds, asked: site.commands.length };
    };
    const refused = { isAllowed: false, remaining: 0, resetSeconds: 1 };
    expect(await at(1_000)).to.deep.equal({ ...refused, asked: 1 });
    expect(await at(1_374)).to.deep.equal({ ...refused, asked: 1 }); // two a second: 0.75 of one takes 375 ms
    tokens["a"] = 1;
    expect(await at(1_375)).to.include({ isAllowed: true, asked: 2 });
    tokens["a"] = 0;
    expect(await at(2_000)).to.deep.equal({ ...refused, asked: 3 });
    expect(await at(1_900)).to.deep.equal({ ...refused, asked: 4 }); // the clock was set back
    expect((await take("a", { capacity: 20, perSecond: 4 })).limit).to.equal(20); // another plan
    expect(site.commands).to.have.length(5);
  });
});
