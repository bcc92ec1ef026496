import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import { until } from "../../../../support/until.ts";

const lines = 1_000;
const logUrl = new URL("../../../../../core/runtime/process/log.ts", import.meta.url).href;

/** Starts a program that logs so many lines at once and then does something. */
const start = (then: string) => {
  const program = `
    import { createLog } from ${JSON.stringify(logUrl)};
    const log = createLog({ program: "test", level: "info" });
    for (let n = 0; n < ${lines}; n++) log.info({ n }, "unit.done");
    ${then}`;
  const args = ["--input-type=module", "--eval", program];
  return spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
};

describe("a program's log", () => {
  for (const [how, then] of [
    ["ends", ""],
    ["exits", "process.exit(1)"],
    ["fails", 'throw new Error("boom")'],
    ["is killed after a warning", 'log.warn("x"); process.kill(process.pid, "SIGKILL")'],
  ] as const) {
    it(`has every line, in order, of a program that ${how}`, async () => {
      const written = (await text(start(then).stdout)).trim().split("\n");
      const numbers = written.map((line) => (JSON.parse(line) as { n?: number }).n).filter((n) => n !== undefined);
      expect(numbers).to.deep.equal(Array.from({ length: lines }, (_, n) => n));
    });
  }

  it("has a line of a program that goes on a moment later", async () => {
    const child = start("setInterval(() => undefined, 1_000)");
    let written = "";
    child.stdout.on("data", (chunk: Buffer) => (written += chunk.toString()));
    await until(() => written.trim().split("\n").length === lines);
    child.kill("SIGKILL");
    await once(child, "close");
  });
});
