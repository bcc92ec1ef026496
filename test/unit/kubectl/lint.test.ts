import { globSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { rootDir } from "../../../dev/files/paths.ts";
import type { Finding } from "../../../kubectl/lint/finding.ts";
import { planted } from "./planted.ts";
import { plantedContent } from "./planted-content.ts";
import { ran } from "./ran.ts";

const folder = join(rootDir, "config/samples");
const samples = Object.fromEntries(
  globSync("*.yaml", { cwd: folder }).map((file) => [file, readFileSync(join(folder, file), "utf8")]),
);

describe("kubectl herald lint", () => {
  let dir: string;
  const write = async (over: Record<string, string>): Promise<void> => {
    for (const [file, text] of Object.entries({ ...samples, ...over })) await writeFile(join(dir, file), text);
  };
  const findings = async (): Promise<{ code: number; found: Finding[] }> => {
    const { code, out } = await ran(["lint", "-f", dir, "-o", "json"]);
    return { code, found: (JSON.parse(out) as { findings: Finding[] }).findings };
  };

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "herald-lint-"));
    await mkdir(join(dir, ".git"));
    await writeFile(join(dir, ".git", "a.yaml"), "kind: [");
  });
  after(() => rm(dir, { recursive: true }));

  it("finds nothing in the samples, nor in what is hidden", async () => {
    await write({});
    expect(await findings()).to.deep.equal({ code: 0, found: [] });
  });

  for (const { it: name, file, from, to, rule, at } of [...planted, ...plantedContent])
    it(`finds ${name}, in its line`, async () => {
      const text = (samples[file] ?? "").replace(from, to);
      expect(text, "planted").to.not.equal(samples[file]);
      await write({ [file]: text });
      const { code, found } = await findings();
      const lines = found
        .filter((finding) => finding.rule === rule)
        .map((finding) => readFileSync(finding.file, "utf8").split("\n")[finding.line - 1] ?? "");
      expect(
        lines.some((line) => line.includes(at)),
        JSON.stringify(found),
      ).to.equal(true);
      expect(code).to.equal(found.some(({ level }) => level === "error") ? 1 : 0);
    });

  it("takes a part of the files for a part when it is told so", async () => {
    const one = join(folder, "04-webhook.yaml");
    expect((await ran(["lint", one])).code).to.equal(1);
    expect(await ran(["lint", one, "--partial"])).to.include({
      code: 0,
      out: "1 resource in 1 file: nothing is wrong\n",
    });
  });

  it("reads stdin, and gives its resources the namespace that they would be applied to", async () => {
    const text = (samples["02-app.yaml"] ?? "").replace("  namespace: herald-demo\n", "");
    const all = `${text}\n---\n${samples["01-tenant.yaml"] ?? ""}\n---\n${samples["00-plans.yaml"] ?? ""}`;
    expect(await ran(["lint", "-f", "-", "-n", "herald-demo"], { stdin: all })).to.include({ code: 0 });
    const { code, out } = await ran(["lint", "-f", "-"], { stdin: all });
    expect(code).to.equal(1);
    expect(out).to.contain("no Tenant names the namespace default [reference]");
  });

  it("lets warnings fail when asked", async () => {
    const secret = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\nstringData:\n  b: c\n";
    expect(await ran(["lint", "-f", "-"], { stdin: secret })).to.include({ code: 0 });
    expect(await ran(["lint", "-f", "-", "--strict"], { stdin: secret })).to.include({ code: 1 });
  });

  it("prints SARIF with the rules and the places", async () => {
    await write({ "02-app.yaml": (samples["02-app.yaml"] ?? "").replace("Europe/Berlin", "Europe/Atlantis") });
    const { out } = await ran(["lint", dir, "-o", "sarif"]);
    const { version, runs } = JSON.parse(out) as {
      version: string;
      runs: { tool: { driver: { rules: { id: string }[] } }; results: object[] }[];
    };
    expect(version).to.equal("2.1.0");
    expect(runs[0]?.tool.driver.rules.map(({ id }) => id)).to.include("time-zone");
    expect(runs[0]?.results).to.have.length(1);
    expect(runs[0]?.results[0]).to.deep.include({
      ruleId: "time-zone",
      level: "error",
      message: { text: "App herald-demo/shop: spec.timeZone Europe/Atlantis is not an IANA time zone" },
    });
  });

  it("says what it cannot read, and what it is to be given", async () => {
    expect(await ran(["lint"])).to.deep.include({ code: 2, out: "" });
    const { code, err } = await ran(["lint", join(dir, "nothing.yaml")]);
    expect(code).to.equal(2);
    expect(err).to.contain("nothing.yaml cannot be read");
  });
});
