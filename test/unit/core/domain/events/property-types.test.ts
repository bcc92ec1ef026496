import { expect } from "chai";
import fc from "fast-check";
import { joined, schemaAfter, typeOfProperty } from "#core/domain/events/property-types.ts";
import { propertyTypes } from "#core/schema/events/definition.ts";

describe("the type of a property", () => {
  const cases: [unknown, string][] = [
    ["paid", "string"],
    ["", "string"],
    [1, "number"],
    [1.5, "number"],
    [true, "boolean"],
    [null, "null"],
    [[1], "array"],
    [{ a: 1 }, "object"],
    ["2026-11-23", "datetime"],
    ["2026-11-23T10:00:00Z", "datetime"],
    ["2026-11-23T10:00:00.123+02:00", "datetime"],
    ["2026-11-23 10:00", "datetime"],
    ["2026-13-23", "string"],
    ["10:00:00", "string"],
    ["20261123", "string"],
    ["on 2026-11-23", "string"],
  ];
  for (const [value, type] of cases) {
    it(`of ${JSON.stringify(value)} is ${type}`, () => expect(typeOfProperty(value)).to.equal(type));
  }

  it("that was null becomes any other, and null changes none", () => {
    for (const type of propertyTypes) {
      expect(joined("null", type)).to.equal(type);
      expect(joined(type, "null")).to.equal(type);
    }
  });

  it("that was two is mixed, and stays mixed", () => {
    expect(joined("string", "number")).to.equal("mixed");
    expect(joined("string", "datetime")).to.equal("mixed");
    for (const type of propertyTypes) expect(joined("mixed", type)).to.equal("mixed");
  });

  it("is the same in whatever order events come, and however they are batched", () => {
    const value = fc.oneof(fc.integer(), fc.string(), fc.boolean(), fc.constant(null), fc.constant("2026-01-01"));
    const events = fc.array(fc.dictionary(fc.constantFrom("a", "b", "__proto__", "c.d"), value), { maxLength: 12 });
    const sorted = (schema: ReturnType<typeof schemaAfter>) => schema.toSorted((a, b) => (a.key < b.key ? -1 : 1));
    fc.assert(
      fc.property(events, fc.nat(12), (all, cut) => {
        const whole = schemaAfter([], all);
        const parts = schemaAfter(schemaAfter([], all.slice(cut)), all.slice(0, cut));
        expect(sorted(parts)).to.deep.equal(sorted(whole));
        expect(schemaAfter(whole, all), "nothing new").to.equal(whole);
      }),
    );
  });

  it("is known of 300 properties, and of those to the end", () => {
    const many = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`a${n}`, n]));
    const more = Object.fromEntries(Array.from({ length: 256 }, (_, n) => [`b${n}`, n]));
    const schema = schemaAfter(schemaAfter([], [many]), [more, { a0: "text" }]);
    expect(schema).to.have.length(300);
    expect(schema.find(({ key }) => key === "a0")?.type).to.equal("mixed");
  });
});
