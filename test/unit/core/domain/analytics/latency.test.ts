import { expect } from "chai";
import { classRatio, percentileOf } from "#core/domain/analytics/latency.ts";
import { seeded } from "../../../../support/filters/random.ts";

describe("percentiles of classes", () => {
  it("are within 2 % of those of the times themselves", () => {
    const random = seeded(183);
    const times = Array.from({ length: 2_000 }, () => 1 + Math.floor(100_000 * random() ** 3)).sort((a, b) => a - b);
    const classes = new Map<number, number>();
    for (const ms of times) {
      const name = Math.round(Math.log(ms) / Math.log(classRatio));
      classes.set(name, (classes.get(name) ?? 0) + 1);
    }
    for (const part of [0.05, 0.5, 0.95, 1]) {
      const exact = times[Math.ceil(times.length * part) - 1] ?? 0;
      const found =
        percentileOf(
          [...classes].map(([name, count]) => ({ class: name, count })),
          part,
        ) ?? 0;
      expect(Math.abs(found - exact), `${part}`).to.be.at.most(exact * 0.021 + 0.5); // it is rounded to whole milliseconds
    }
    expect(percentileOf([], 0.5)).to.equal(null);
  });
});
