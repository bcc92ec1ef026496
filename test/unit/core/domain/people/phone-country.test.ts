import { expect } from "chai";
import { phoneCountry } from "#core/domain/people/phone-country.ts";

describe("phoneCountry", () => {
  for (const [number, country] of [
    ["+4915112345678", "DE"],
    ["+14155552671", "US"],
    ["+14165552671", "CA"],
    ["+18765551234", "JM"],
    ["+77012345678", "KZ"],
    ["+79161234567", "RU"],
    ["+441534123456", "JE"],
    ["+358401234567", "FI"],
    ["+10000000000", null],
    ["+870773111632", null],
    ["+999123456789", null],
    ["+80012345678", null],
  ] as const)
    it(`finds ${country ?? "no country"} for ${number}`, () => expect(phoneCountry(number)).to.equal(country));

  it("reads none of what is no number", () => {
    for (const text of ["", "+", "0", "ada@example.com"]) expect(phoneCountry(text), text).to.equal(null);
  });
});
