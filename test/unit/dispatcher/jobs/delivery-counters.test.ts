import { expect } from "chai";
import { recountPauseMs } from "../../../../dispatcher/jobs/delivery-counters.ts";

describe("the pause before a quarter of an hour is counted again", () => {
  const pauses = [
    { tookMs: 4, pauseMs: 1_000 },
    { tookMs: 40, pauseMs: 2_000 },
    { tookMs: 200, pauseMs: 3_000 }, // a number is there within 5 s
    { tookMs: 300, pauseMs: 3_000 },
    { tookMs: 2_000, pauseMs: 20_000 },
  ];
  for (const { tookMs, pauseMs } of pauses)
    it(`is ${pauseMs} ms after a count of ${tookMs} ms`, () => {
      expect(recountPauseMs(tookMs)).to.equal(pauseMs);
    });
});
