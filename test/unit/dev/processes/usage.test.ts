import { spawn } from "node:child_process";
import { expect } from "chai";
import { cpuUs, treeCpuUs } from "../../../../dev/processes/usage.ts";
import { until } from "../../../support/until.ts";

describe("treeCpuUs", () => {
  it("has what the children of a process used, and theirs", async () => {
    const child = spawn("sh", ["-c", "sh -c 'while :; do :; done' & wait"], { detached: true, stdio: "ignore" });
    const pid = child.pid ?? expect.fail("it did not start");
    try {
      await until(() => treeCpuUs(pid) > 50_000);
      expect(cpuUs(pid)).to.be.lessThan(50_000); // it only waits
    } finally {
      process.kill(-pid, "SIGKILL"); // its group
    }
  });

  it("is 0 for a process that is gone", () => {
    expect(treeCpuUs(2 ** 30)).to.equal(0); // beyond any process id
  });
});
