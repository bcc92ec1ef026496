import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../../dev/files/paths.ts";

const read = (path: string): string => readFileSync(join(rootDir, path), "utf8");

/** Reasons are words of the source: every one is the first argument of its maker, or a member of a literal. */
const reasonsIn = (source: string): string[] =>
  [...source.matchAll(/(?:(?:refused|waiting)\(\s*|status: "True",\s*reason: |note\()"([A-Z][A-Za-z]+)"/g)].map(
    ([, reason = ""]) => reason,
  );

describe("docs/conditions.md", () => {
  const source = globSync("operator/{kinds,records,engine,policies}/**/*.ts", { cwd: rootDir }).map(read).join("\n");
  const rows = [...read("docs/conditions.md").matchAll(/^\| `([A-Za-z]+)` \|/gm)].map(([, reason = ""]) => reason);

  it("has a row for every reason that the operator gives", () => {
    const reasons = new Set(reasonsIn(source));
    expect(reasons.size).to.be.above(25);
    expect([...reasons].filter((reason) => !rows.includes(reason))).to.deep.equal([]);
  });

  it("has no row for a reason that it does not give", () => {
    expect(rows.filter((reason) => !source.includes(`"${reason}"`))).to.deep.equal([]);
  });
});
