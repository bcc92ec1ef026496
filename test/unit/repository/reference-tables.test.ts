import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { nextRequestAt } from "#core/domain/webhooks/retry.ts";
import { importLimits } from "#core/schema/imports/import.ts";
import { identityFaults, keyFaults } from "#core/schema/vocabulary/refusal-reasons.ts";
import { rootDir } from "../../../dev/files/paths.ts";

const read = (path: string): string => readFileSync(join(rootDir, path), "utf8");

/** What stands below a heading, up to the next one. */
const sectionOf = (page: string, heading: string): string => {
  const [, below = ""] = read(`docs/reference/${page}`).split(new RegExp(`^#+ ${heading}\n`, "m"));
  return below.split(/^#/m, 1)[0] ?? "";
};

/** The cells of its tables, row by row, without the marks of code. */
const rowsOf = (section: string): string[][] =>
  section
    .split("\n")
    .filter((line) => line.startsWith("| "))
    .map((line) => line.slice(2, -2).replaceAll("`", "").split(" | "));

/** Lines that people write: none of a page that is generated, and of others those outside of what is. */
const linesByHand = (page: string): string[] =>
  page.includes("<!-- Generated from ")
    ? []
    : page.replaceAll(/<!-- (.+): written by make generate -->.*?<!-- end of \1 -->/gs, "").split("\n");

/** Rows of tables that begin with an operation. */
const operationsByHand = (page: string): string[] =>
  linesByHand(page).filter((line) => /^\| *\[?`(?:GET|POST|PUT|PATCH|DELETE) [/…]/.test(line));

const refusals = [...keyFaults, ...identityFaults].filter((reason) => reason.includes("_")).join("|"); // others are words of many tables

/** Heads of tables of bounds, and rows that begin with the code of an error or the reason of a refusal. */
const listsByHand = (page: string): string[] =>
  linesByHand(page).filter(
    (line) =>
      /^\| (?:What|Bound) \| (?:Bound|Members) \|/.test(line) ||
      new RegExp(`^\\| \`(?:HS_[A-Z_]+|${refusals})\` \\|`).test(line),
  );

describe("the tables of docs/reference", () => {
  it("leave lists of operations to what is generated", () => {
    const pages = globSync("docs/{*,reference/*,contributing/*}.md", { cwd: rootDir });
    expect(pages).to.have.length.above(40);
    const byHand = pages.flatMap((path) => operationsByHand(read(path)).map((row) => `${path}: ${row}`));
    expect(byHand).to.deep.equal([]);
  });

  it("are looked through for operations, but where they are generated", () => {
    const listed = "| `GET …/colors` | the colors |\n| [`POST /v1/colors`](#new) | a new one |";
    expect(operationsByHand(`| Operation | |\n|---|---|\n${listed}\n`)).to.deep.equal(listed.split("\n"));
    expect(operationsByHand(`<!-- colors: written by make generate -->\n\n${listed}\n\n<!-- end of colors -->\n`)).to.be
      .empty;
    expect(operationsByHand(`<!-- Generated from the routes. -->\n\n${listed}\n`)).to.be.empty;
  });

  it("give the pauses between requests of a webhook", () => {
    const rows = rowsOf(sectionOf("webhooks.md", "Retries")).filter(([, pause]) => /^\d+ (min|h)$/.test(pause ?? ""));
    const documented = rows.map(([, pause = ""]) => Number.parseInt(pause, 10) * (pause.endsWith("h") ? 60 : 1));
    const minutes = rows.map((_, i) => (nextRequestAt(i + 1, new Date(0), null, () => 0)?.getTime() ?? 0) / 60_000);
    expect(documented).to.deep.equal(minutes).and.to.have.length(6);
  });

  it("leave bounds, codes of errors and reasons of refusals to what is generated", () => {
    const pages = globSync("docs/reference/*.md", { cwd: rootDir });
    expect(pages).to.have.length.above(30);
    const byHand = pages.flatMap((path) => listsByHand(read(path)).map((row) => `${path}: ${row}`));
    expect(byHand).to.deep.equal([]);
  });

  it("are looked through for those, but where they are generated", () => {
    const listed = ["| What | Bound |", "| `HS_NOT_FOUND` | it is gone |", "| `unknown_key` | nobody has it |"];
    expect(listsByHand(`${listed.join("\n")}\n`)).to.deep.equal(listed);
    expect(listsByHand(`<!-- bounds: written by make generate -->\n${listed.join("\n")}\n<!-- end of bounds -->\n`)).to
      .be.empty;
  });

  it("give other bounds as the code has them", () => {
    const section = sectionOf("limits.md", "Imports");
    expect(section).to.include(`; ${importLimits.rows.toLocaleString("en-US")} rows |`);
    expect(section).to.include(`| 1 runs, ${importLimits.pending} wait |`);
  });
});
