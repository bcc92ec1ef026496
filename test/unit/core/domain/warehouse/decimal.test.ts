import { expect } from "chai";
import { decimalOf } from "#core/domain/warehouse/decimal.ts";

describe("a decimal of a warehouse export", () => {
  const cases: [given: number, scaled: bigint | null][] = [
    [0, 0n],
    [19.9, 19_900_000_000n],
    [-0.1, -100_000_000n],
    [123_456_789_012.3, 123_456_789_012_300_000_000n],
    [1e-9, 1n],
    [1.5e-9, 2n],
    [4e-10, 0n],
    [5e-324, 0n],
    [1e21, 10n ** 30n],
    [9e28, 9n * 10n ** 37n],
    [1e29, null],
    [-1.7976931348623157e308, null],
    [Number.NaN, null],
    [Number.POSITIVE_INFINITY, null],
  ];
  for (const [given, scaled] of cases)
    it(`of ${given} is ${scaled === null ? "not there" : `${scaled} of 10⁻⁹`}`, () => {
      expect(decimalOf(given)).to.equal(scaled);
    });
});
