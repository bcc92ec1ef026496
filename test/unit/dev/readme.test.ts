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

/** With what each does. */
const targets = [...read("Makefile").matchAll(/^([a-z][a-z0-9-]+):.*\n((?:\t.*\n)*)/gm)].map(
  ([, name = "", commands = ""]) => [name, commands] as const,
);

describe("README.md", () => {
  it("shows only commands that the demo prints and the suite runs, or targets of the Makefile", () => {
    const printed = commands(addresses(portBase({})), join(stackDir, "kubeconfig")).map(({ command }) => command);
    const known = new Set([...printed, ...targets.map(([target]) => `make ${target}`)]);
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

describe("the Makefile", () => {
  it("has every target that CONTRIBUTING.md and the pages for contributors name", () => {
    const pages = ["CONTRIBUTING.md", "docs/contributing/adding.md", "docs/contributing/path.md"].map(read).join("");
    const named = [...pages.matchAll(/`(?:[A-Z]+=\S+ )?make ([a-z0-9-]+)/g)].map(([, name]) => name);
    expect(named).to.include("soak");
    expect(named.filter((name) => !targets.some(([target]) => target === name))).to.deep.equal([]);
  });

  it("says before a long target's work how long it takes", () => {
    const long = [
      "up",
      "down",
      "demo",
      "check",
      "test",
      "soak",
      "chart",
      "e2e",
      "coverage",
      "bench",
      "fuzz",
      "release",
    ];
    const silent = long.filter((name) => !targets.find(([target]) => target === name)?.[1].startsWith("\t$(call say,"));
    expect(silent).to.deep.equal([]);
  });
});
