import { expect } from "chai";
import fc from "fast-check";
import { csvReader, longestRow, Unreadable } from "#core/domain/imports/csv.ts";

const rowsOf = (pieces: readonly string[]) => {
  const reader = csvReader();
  return [...pieces.flatMap((piece) => reader.read(piece)), ...reader.end()];
};

const cases = [
  { it: "a row without a line end", text: "a,b", rows: [[1, ["a", "b"]]] },
  {
    it: "CRLF, LF and a lone CR",
    text: "a\r\nb\nc\rd",
    rows: [
      [1, ["a"]],
      [2, ["b"]],
      [3, ["c"]],
      [4, ["d"]],
    ],
  },
  {
    it: "line ends in quotes, each as one",
    text: '"x\r\ny\rz",1\nb,2',
    rows: [
      [1, ["x\r\ny\rz", "1"]],
      [4, ["b", "2"]],
    ],
  },
  { it: "doubled quotes", text: '"a ""b"" c",""\n', rows: [[1, ['a "b" c', ""]]] },
  { it: "a quote within a cell that has none at its begin", text: 'a"b,c\n', rows: [[1, ['a"b', "c"]]] },
  { it: "empty lines, which are no rows", text: "\n\r\na\n\n", rows: [[3, ["a"]]] },
  { it: "a NUL, which is for others to judge", text: "a\0,b\n", rows: [[1, ["a\0", "b"]]] },
] as const;

describe("a reader of CSV", () => {
  for (const { it: name, text, rows } of cases) {
    it(`reads ${name}`, () => {
      expect(rowsOf([text]).map(({ line, cells }) => [line, cells])).to.deep.equal(rows);
    });
  }

  it("gives the same rows, however the text is cut", () => {
    const cell = fc.string({ unit: fc.constantFrom("a", '"', ",", "\r", "\n", "ü"), maxLength: 6 });
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 1, maxLength: 4 }), { maxLength: 6 }),
        fc.nat(5),
        (table, size) => {
          const text = table.map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(",")).join("\r\n");
          const pieces = Array.from({ length: Math.ceil(text.length / (size + 1)) }, (_, n) =>
            text.slice(n * (size + 1), (n + 1) * (size + 1)),
          );
          const read = rowsOf(pieces);
          expect(read.map(({ cells }) => cells)).to.deep.equal(table);
          expect(read).to.deep.equal(rowsOf([text]));
        },
      ),
    );
  });

  it("says of a row what is wrong with its quotes, and reads on behind it", () => {
    const read = rowsOf(['"a"b,c\nd,e\nf,"g']);
    expect(read.map(({ fault }) => fault)).to.deep.equal([
      "text follows the closing quote of a cell",
      null,
      "a quoted cell does not end",
    ]);
    expect(read.map(({ raw }) => raw)).to.deep.equal(['"a"b,c', "d,e", 'f,"g']);
  });

  it("gives up a row that does not end within its bound", () => {
    const reader = csvReader();
    expect(reader.read("a,b\n")).to.have.length(1);
    expect(() => reader.read(`"${"x".repeat(longestRow)}`)).to.throw(Unreadable, "line 2");
  });
});
