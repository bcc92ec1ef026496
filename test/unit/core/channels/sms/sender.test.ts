import { expect } from "chai";
import { isSender, senderFor } from "#core/channels/sms/sender.ts";

const people = Array.from({ length: 3_000 }, (_, n) => `+4915112${String(n).padStart(6, "0")}`);
const pool = ["+15005550006", "+15005550007", "+15005550008"];

describe("a pool of senders", () => {
  it("gives a recipient the same sender each time", () => {
    for (const one of people.slice(0, 50)) expect(senderFor(pool, one)).to.equal(senderFor(pool, one));
  });

  it("shares recipients about evenly", () => {
    const counts = pool.map((sender) => people.filter((one) => senderFor(pool, one) === sender).length);
    for (const count of counts) expect(count).to.be.within(850, 1_150);
  });

  it("moves only those whose sender left", () => {
    const [left, ...rest] = pool;
    for (const one of people) {
      const before = senderFor(pool, one);
      if (before !== left) expect(senderFor(rest, one)).to.equal(before);
    }
  });

  it("moves to a new sender nobody but those who get it", () => {
    const grown = [...pool, "+15005550009"];
    const moved = people.filter((one) => senderFor(grown, one) !== senderFor(pool, one));
    expect(new Set(moved.map((one) => senderFor(grown, one)))).to.deep.equal(new Set(["+15005550009"]));
  });

  it("of none has none", () => {
    expect(senderFor([], "+4915112345678")).to.equal(null);
  });
});

describe("a sender", () => {
  for (const text of ["+15005550006", "12345", "Herald", "My Shop 24"])
    it(`may be ${text}`, () => {
      expect(isSender(text)).to.equal(true);
    });
  for (const text of ["", "+0123456789", "TwelveLetter", "Sh\u00f6p", "rcs:brand"])
    it(`may not be ${JSON.stringify(text)}`, () => {
      expect(isSender(text)).to.equal(false);
    });
});
