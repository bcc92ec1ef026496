import { expect } from "chai";
import { csvReader } from "#core/domain/imports/csv.ts";
import { headerOf } from "#core/domain/imports/header.ts";
import { rowReader } from "#core/domain/imports/read-row.ts";
import { blocksOf } from "../../support/pages/blocks.ts";

describe("the page on bringing users along", () => {
  it("shows a file that is taken, row by row", () => {
    const file = blocksOf("imports.md").find(({ info }) => info === "csv");
    const [names, ...rows] = csvReader().read(file?.text ?? "");
    const header = headerOf("csv_users", names?.cells ?? []);
    if (!header.ok) throw new Error(header.problem);
    const read = rowReader("csv_users", header.columns, { huaweiAs: "android_push" });
    const found = rows.map((row) => read(row, new Date("2026-11-23T00:00:00Z")));
    expect(found.map((row) => (row.kind === "faulty" ? row.error : (row.address?.channel ?? null)))).to.deep.equal([
      "email",
      "sms",
      null,
    ]);
  });
});
