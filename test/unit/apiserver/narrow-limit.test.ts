import { expect } from "chai";
import pino from "pino";
import { AppError } from "#core/errors.ts";
import { narrowLimit } from "../../../apiserver/narrow-limit.ts";
import { takeFrom } from "../../../apiserver/take-token.ts";

describe("narrowLimit", () => {
  const limited = (replicas: number) => {
    let nowMs = 0;
    const limit = narrowLimit(
      takeFrom({
        runScript: () => Promise.reject(new Error("away")), // this replica's share counts
        replicas,
        clock: { now: () => new Date(nowMs) },
        log: pino({ level: "silent" }),
        count: () => undefined,
      }),
    );
    const isAllowed = (operation = "webhooks.test", id = "whk_1"): Promise<boolean> =>
      limit(operation, id, 10).then(
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

  it("tells how long to wait, and the limit", async () => {
    const { limit, isAllowed } = limited(1);
    await allowed(isAllowed, 10);
    const error = await limit("webhooks.test", "whk_1", 10).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(AppError);
    expect(error).to.deep.include({
      code: "HS_RATE_LIMITED",
      details: { retry_after_seconds: 6, limit: 10, window_seconds: 60 },
    });
  });
});
