import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { commands } from "../../../dev/demo/commands.ts";
import { addresses } from "../../../dev/demo/settings.ts";
import { portBase, rootDir, stackDir } from "../../../dev/files/paths.ts";

const read = (path: string): string => readFileSync(join(rootDir, path), "utf8");
const readme = read("README.md");
const blocks = (language: string): string[] =>
  [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))].map(([, text = ""]) => text);

describe("README.md", () => {
  it("shows only commands that the demo prints and the suite runs, or targets of the Makefile", () => {
    const printed = commands(addresses(portBase({})), join(stackDir, "kubeconfig")).map(({ command }) => command);
    const targets =
      read("Makefile")
        .match(/^[a-z]+(?=:)/gm)
        ?.map((target) => `make ${target}`) ?? [];
    const known = new Set([...printed, ...targets]);
    const shown = blocks("sh").flatMap((block) => block.trimEnd().split(/(?<!\\)\n/));
    expect(shown).to.include("make demo").and.to.include("make test");
    expect(shown.filter((command) => !known.has(command))).to.deep.equal([]);
  });

  it("links to files that exist", () => {
    const links = [...readme.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = ""]) => path);
    expect(links).to.have.length.above(5);
    expect(links.filter((path) => !existsSync(join(rootDir, path)))).to.deep.equal([]);
  });
});
