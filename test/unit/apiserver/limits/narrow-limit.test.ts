import { expect } from "chai";
import pino from "pino";
import { narrowLimit } from "../../../../apiserver/limits/narrow-limit.ts";
import type { RateName } from "../../../../apiserver/limits/narrow-rates.ts";
import { RateLimited } from "../../../../apiserver/limits/rate.ts";
import { takeFrom } from "../../../../apiserver/limits/take-token.ts";

describe("narrowLimit", () => {
  const limited = (replicas: number) => {
    let nowMs = 0;
    const limit = narrowLimit(
      takeFrom({
        takeShared: () => Promise.reject(new Error("away")), // this replica's share counts
        replicas,
        clock: { now: () => new Date(nowMs) },
        log: pino({ level: "silent" }),
        count: () => undefined,
      }),
    );
    const isAllowed = (rate: RateName = "webhooks.test", id = "whk_1"): Promise<boolean> =>
      limit(rate, id).then(
        () => true,
        () => false,
      );
    const pass = (ms: number): void => void (nowMs += ms);
    return { limit, isAllowed, pass };
  };
  const allowed = async (isAllowed: () => Promise<boolean>, calls: number): Promise<number> => {
    let count = 0;
    for (let n = 0; n < calls; n++) if (await isAllowed()) count++;
    return count;
  };

  it("allows so many at once, and then one each time that its part of the minute has passed", async () => {
    const { isAllowed, pass } = limited(1);
    expect(await allowed(isAllowed, 12)).to.equal(10);
    pass(5_900);
    expect(await isAllowed()).to.equal(false);
    pass(200);
    expect(await allowed(isAllowed, 2)).to.equal(1);
    pass(3_600_000);
    expect(await allowed(isAllowed, 12)).to.equal(10);
  });

  it("counts each operation and each thing by itself", async () => {
    const { isAllowed } = limited(1);
    expect(await allowed(isAllowed, 12)).to.equal(10);
    expect(await isAllowed("webhooks.replay")).to.equal(true);
    expect(await isAllowed("webhooks.test", "whk_2")).to.equal(true);
  });

  it("allows a replica's share while Redis is away", async () => {
    const { isAllowed, pass } = limited(5);
    expect(await allowed(isAllowed, 12)).to.equal(2);
    pass(29_900);
    expect(await isAllowed()).to.equal(false);
    pass(200);
    expect(await isAllowed()).to.equal(true);
  });

  it("lets a burst pass that is larger than what flows in", async () => {
    const { limit, pass } = limited(1);
    const isAllowed = () =>
      limit("subscriptions.write", "sub_1").then(
        () => true,
        () => false,
      );
    expect(await allowed(isAllowed, 12)).to.equal(10);
    pass(1_100);
    expect(await allowed(isAllowed, 2)).to.equal(1);
  });

  it("tells how long to wait, the limit, and the state of its own bucket", async () => {
    const { limit, isAllowed } = limited(1);
    await allowed(isAllowed, 10);
    const error = await limit("webhooks.test", "whk_1").catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(RateLimited);
    const { code, details, state } = error as RateLimited; // the line above
    expect([code, details]).to.deep.equal([
      "HS_RATE_LIMITED",
      { retry_after_seconds: 6, limit: 10, window_seconds: 60 },
    ]);
    expect(state).to.include({ limit: 10, remaining: 0, resetSeconds: 6 });
  });
});
