import { expect } from "chai";
import { waitMs } from "../../../../sdk/web/src/worker/spread.ts";

describe("a report that a push came", () => {
  for (const [what, within, random, ms] of [
    ["is made at once where the push says nothing", 0, 0.9, 0],
    ["waits any time within what it says", 10, 0.25, 2_500],
    ["waits for the whole of it at most", 10, 1, 10_000],
    ["waits no longer than a worker lives", 3_600, 0.5, 10_000],
    ["is made at once where the push says no time", "soon" as unknown as number, 0.5, 0],
    ["is made at once where the push says a time before", -5, 0.5, 0],
  ] as const)
    it(what, () => {
      expect(waitMs(within, random)).to.equal(ms);
    });
});
