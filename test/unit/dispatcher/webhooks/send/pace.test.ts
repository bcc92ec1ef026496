import { expect } from "chai";
import { pace } from "../../../../../dispatcher/webhooks/send/pace.ts";

describe("a pace", () => {
  it("sets no limit when there is none", () => {
    expect(pace(null).take(0)).to.equal(0);
  });

  it("spreads turns evenly and says how long to wait", () => {
    const turns = pace(10);
    const begun = Array.from({ length: 1000 }, (_, ms) => turns.take(10_000 + ms)).filter((waitMs) => waitMs === 0);
    expect(begun.length).to.be.within(10, 12);
    expect(turns.take(11_000)).to.be.within(0, 100);
  });
});
