import { expect } from "chai";
import fc from "fast-check";
import { type Cell, cellText, plainCell } from "#core/domain/exports/csv.ts";

const cells: { it: string; value: Cell; text: string }[] = [
  { it: "text as it is", value: "Zürich, West", text: "Zürich, West" },
  { it: "nothing as nothing", value: null, text: "" },
  { it: "what is missing as nothing", value: undefined, text: "" },
  { it: "no as a word", value: false, text: "false" },
  { it: "an instant in UTC", value: new Date("2026-11-23T12:00:00+01:00"), text: "2026-11-23T11:00:00.000Z" },
  { it: "an object as JSON", value: { a: "=1" }, text: '{"a":"=1"}' },
  { it: "a list as JSON", value: ["-"], text: '["-"]' },
  { it: "a formula as text", value: "=1+1", text: "'=1+1" },
  { it: "what begins with plus as text", value: "+4915112345678", text: "'+4915112345678" },
  { it: "what begins with minus as text", value: "-2+3", text: "'-2+3" },
  { it: "a function as text", value: "@SUM(A1)", text: "'@SUM(A1)" },
  { it: "a formula behind a tab as text", value: "\t=1", text: "'\t=1" },
  { it: "a formula behind a line break as text", value: "\r\n=1", text: "'\r\n=1" },
  { it: "a formula that has a quote already with one more", value: "'=ph1", text: "''=ph1" },
  { it: "a quote before other text as it is", value: "'tis", text: "'tis" },
  { it: "a formula further on as it is", value: "a=1", text: "a=1" },
  { it: "a negative number as text", value: -5, text: "'-5" },
];

const texts = fc.oneof(
  fc.string(),
  fc.string({ unit: fc.constantFrom("'", "=", "+", "-", "@", "\t", "\r", "\n", '"', ",", "a") }),
);

describe("a cell of a file", () => {
  it("is imported as the text that was exported, whatever that is", () => {
    fc.assert(fc.property(texts, (text) => plainCell(cellText(text)) === text));
  });

  for (const { it: name, value, text } of cells)
    it(`shows ${name}`, () => {
      expect(cellText(value)).to.equal(text);
    });
});
