import { expect } from "chai";
import { limitOf, slowness } from "../../../support/suite/slowness.ts";

describe("how much longer waits may last on a slow machine", () => {
  const after = (workMs: number): number => slowness(() => workMs);

  it("is as long as usual where work takes what it usually takes, or less", () =>
    expect([0, 4, 5.9].map(after)).to.deep.equal([1, 1, 1]));

  it("grows with the square of what work takes, within a bound", () =>
    expect([8, 12, 400].map(after)).to.deep.equal([4, 9, 10]));

  it("ends no wait before its limit, and each at ten times of it", () =>
    expect([0, 1_000, 10_001].map(limitOf(1_000))).to.deep.equal([false, false, true]));

  it("is measured by real work", () => expect(slowness()).to.be.within(1, 10));
});
