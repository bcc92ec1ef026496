import { expect } from "chai";
import { evaluate } from "./support/cluster/probe.ts";
import { programs, releaseName } from "./support/release.ts";
import { type System, system } from "./support/system.ts";

/** What a process in the pod finds out about itself. */
type Found = { root: string; cache: string; uid: number; capabilities: string; newPrivileges: string; seccomp: string };

const look = `const { writeFileSync, rmSync, readFileSync } = require("node:fs");
  const write = (path) => { try { writeFileSync(path, ""); rmSync(path); return "written"; } catch (e) { return e.code; } };
  const status = Object.fromEntries(readFileSync("/proc/1/status", "utf8").split("\\n").map((line) => line.split(":\\t")));
  console.log(JSON.stringify({ root: write("/app/x"), cache: write("/var/cache/herald/x"), uid: process.getuid(),
    capabilities: status.CapBnd, newPrivileges: status.NoNewPrivs, seccomp: status.Seccomp }));`;

describe("a pod of the chart", () => {
  let at: System;

  before(async () => {
    at = await system();
  });

  for (const program of programs) {
    it(`runs ${program} as nobody, without privileges, on a root file system that cannot be written`, async () => {
      const [pod] = await at.release.pods(program);
      const place = { namespace: releaseName, pod: pod?.metadata.name ?? "" };
      const found = JSON.parse(await evaluate(at.cluster, place, look)) as Found; // printed by the script above
      expect(found).to.deep.equal({
        root: "EROFS",
        cache: "written",
        uid: 65_532,
        capabilities: "0000000000000000",
        newPrivileges: "1",
        seccomp: "2",
      });
    });
  }

  it("lives where a pod that asks for more is refused", async () => {
    const { code, stderr } = await at.cluster.tryKubectl(
      ["run", "greedy", "--namespace", releaseName, "--image", "herald", "--privileged"],
      {},
    );
    expect(code).to.equal(1);
    expect(stderr).to.contain('violates PodSecurity "restricted:latest"');
  });
});
