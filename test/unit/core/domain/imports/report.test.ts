import { expect } from "chai";
import { fileKind } from "#core/domain/imports/file-kind.ts";
import { reportLines, shownRow } from "#core/domain/imports/report.ts";

const columns = new Map([
  ["external_id", 0],
  ["channel", 1],
  ["token", 2],
]);
const row = (cells: string[], fault: string | null = null) => ({ line: 2, cells, raw: "", fault });

describe("the report of an import", () => {
  it("shows a row with its address masked", () => {
    expect(shownRow("csv_users", columns, row(["anna", "email", "anna@example.com"]))).to.equal(
      "anna,email,a•••@example.com",
    );
    expect(shownRow("csv_users", columns, row(["a", "sms", "+4915112345678"]))).to.equal("a,sms,•••678");
    expect(shownRow("csv_users", columns, row(["a", "ios_push", "abc"]))).to.equal("a,ios_push,•••");
  });

  it("masks whatever may be an address where the cells are out of place", () => {
    const shown = shownRow("csv_users", columns, row(["anna", "x", "email", "anna@example.com", "ab".repeat(32)]));
    expect(shown).to.equal("anna,x,email,a•••@example.com,•••abababab");
    expect(shownRow("csv_users", columns, row(["+4915112345678", "b", "c"], "a fault"))).to.equal("•••678,b,c");
  });

  it("is CSV that no spreadsheet calculates", () => {
    expect(reportLines([{ line: 7, error: 'a "quote"', row: "=1+1,b\n" }])).to.equal(`7,"a ""quote""","'=1+1,b\n"\r\n`);
  });
});

describe("the first bytes of a file", () => {
  const kinds = [
    ["gzip", [0x1f, 0x8b, 8, 0], "gzip"],
    ["a zip archive", [0x50, 0x4b, 3, 4], "unsupported"],
    ["UTF-16, little end first", [0xff, 0xfe, 0x61, 0], "unsupported"],
    ["UTF-16, big end first", [0xfe, 0xff, 0, 0x61], "unsupported"],
    ["UTF-16 without a mark", [0x61, 0, 0x62, 0], "unsupported"],
    ["UTF-8 with a mark", [0xef, 0xbb, 0xbf, 0x61], "text"],
    ["text", [0x61, 0x2c], "text"],
    ["nothing", [], "text"],
  ] as const;
  for (const [name, bytes, kind] of kinds) {
    it(`are known as ${name}`, () => {
      expect(fileKind(Uint8Array.from(bytes)).kind).to.equal(kind);
    });
  }
});
