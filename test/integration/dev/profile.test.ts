import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { attempt, command } from "../../../dev/processes/run-command.ts";
import { blocksOf } from "../../support/pages/blocks.ts";
import { testServers } from "../../support/servers/servers.ts";
import { testCredentials } from "../../support/system/credentials.ts";
import { type System, type SystemProgram, startSystem } from "../../support/system/system.ts";

describe("docs/performance.md", () => {
  let system: System;
  let programs: Record<string, SystemProgram>;

  before(async () => {
    const apns = { url: "https://127.0.0.1:9", credentials: testCredentials() };
    system = await startSystem({ ...(await testServers()), apns });
    const [apiserver, dispatcher] = await Promise.all([system.start("apiserver"), system.start("dispatcher")]);
    programs = { apiserver, dispatcher };
  });
  after(() => system?.stop());

  const shown = blocksOf("performance.md").flatMap(({ info, text }) => (info === "sh" ? text.trim().split("\n") : []));

  it("shows how to take a profile", () => expect(shown).to.have.length(2));

  for (const line of shown) {
    it(`shows a command that works: ${line}`, async () => {
      const [node, script = "", program = "", seconds] = line.split(" ");
      expect([node, Number(seconds)]).to.deep.equal(["node", 10]);
      const pid = programs[program]?.pid() ?? expect.fail(`${program} is no program that runs here`);
      const lines = (await command([process.execPath, script, String(pid), "1"])).trim().split("\n");
      const file = lines.at(-1) ?? "";
      expect(lines[0]).to.match(/^ *\d+\.\d %  /);
      expect(JSON.parse(await readFile(file, "utf8"))).to.include.keys("nodes", "samples", "timeDeltas");
      const again = await command([process.execPath, script, String(pid), "0.1"]); // it has stopped listening
      expect(again).to.contain(".cpuprofile");
    });
  }

  it("finds the programs of the checkout by their names", async () => {
    const line = shown[0]?.split(" ") ?? [];
    expect(await command([process.execPath, line[1] ?? "", "apiserver", "0.1"])).to.contain("apiserver-");
    const { code, stderr } = await attempt([process.execPath, line[1] ?? "", "nothing", "0.1"]);
    expect([code, stderr.includes("no nothing of this checkout runs")]).to.deep.equal([1, true]);
  });
});
