import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect } from "chai";

const fixture = fileURLToPath(new URL("program.fixture.ts", import.meta.url));

describe("runProgram", () => {
  let child: ChildProcess;
  let output = "";
  afterEach(() => child.kill("SIGKILL"));

  const run = (behaviour: string, graceMs = 500): void => {
    output = "";
    child = spawn(process.execPath, [fixture, behaviour, String(graceMs)], { stdio: ["ignore", "pipe", "inherit"] });
    child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  };
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const end = setTimeout(() => reject(new Error(`"${text}" was not said: ${output}`)), 10_000);
      const look = (): void => {
        if (!output.includes(text)) return;
        clearTimeout(end);
        child.stdout?.off("data", look);
        resolve();
      };
      child.stdout?.on("data", look);
      look();
    });
  const exit = async (): Promise<unknown> => (await once(child, "close"))[0];
  const steps = (): string[] => output.split("\n").filter((line) => /^(start|stop|gave up)/.test(line));
  const events = (): string[] => [...output.matchAll(/"event":"([a-z._]+)"/g)].map(([, event = ""]) => event);

  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    it(`starts in order, stops in reverse on ${signal}, and exits 0`, async () => {
      run("");
      await said("program.started");
      child.kill(signal);
      expect(await exit()).to.equal(0);
      expect(steps()).to.deep.equal([
        "start first",
        "start middle",
        "start last",
        "stop last",
        "stop middle",
        "stop first",
      ]);
      expect(events()).to.deep.equal(["program.started", "program.stopping", "program.stopped"]);
    });
  }

  it("waits for a part that stops within the grace", async () => {
    run("stops slowly");
    await said("program.started");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(0);
    expect(steps().slice(3)).to.deep.equal(["stop last", "stop middle", "stop first"]);
  });

  it("tells a part that the grace is over, and exits 0 when it heeds that", async () => {
    run("heeds the grace");
    await said("program.started");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(0);
    expect(steps().slice(3)).to.deep.equal(["stop last", "gave up middle", "stop first"]);
  });

  it("leaves a part behind that outlasts the grace, waits for the others to stop and exits 1", async () => {
    run("never stops");
    await said("program.started");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(1);
    expect(steps().slice(3)).to.deep.equal(["stop last", "stop first"]);
    expect(events()).to.include("part.stop_failed");
  });

  it("stops the others when one cannot be stopped, and exits 1", async () => {
    run("fails to stop");
    await said("program.started");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(1);
    expect(steps().slice(3)).to.deep.equal(["stop last", "stop first"]);
  });

  it("exits at once on a second signal", async () => {
    run("never stops", 15_000);
    await said("program.started");
    child.kill("SIGTERM");
    await said("stop last");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(1);
    expect(events()).to.include("program.killed").and.not.include("program.stopped");
  });

  it("stops what was started, and what was starting, when a part does not start", async () => {
    run("fails to start");
    expect(await exit()).to.equal(1);
    expect(steps()).to.deep.equal(["start first", "stop middle", "stop first"]);
    expect(output).to.contain("middle did not start");
  });

  it("can be stopped while it starts, with code 0", async () => {
    run("starts slowly");
    await said("start first");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(0);
    expect(steps()).to.deep.equal(["start first", "stop middle", "stop first"]);
  });

  it("asks for a part that has to be made when those before it have started", async () => {
    run("makes a part late");
    await said("program.started");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(0);
    expect(steps().slice(0, 3)).to.deep.equal(["start first", "start middle", "start last"]);
    expect(output.indexOf("makes the rest")).to.be.greaterThan(output.indexOf("start first"));
  });

  it("says which parts took longest to start, the making of them included", async () => {
    run("makes a part late");
    await said("program.started");
    child.kill("SIGTERM");
    await exit();
    const line = output.split("\n").find((one) => one.includes("program.started")) ?? "";
    const { slowestMs, tookMs } = JSON.parse(line) as { slowestMs: Record<string, number>; tookMs: number };
    expect(Object.keys(slowestMs)[0]).to.equal("middle");
    expect(Object.keys(slowestMs)).to.have.members(["first", "middle", "last"]);
    expect(slowestMs["middle"]).to.be.within(99, tookMs); // it is made after 100 ms
  });

  it("can be stopped while a part is awaited, with code 0", async () => {
    run("never makes a part");
    await said("makes the rest");
    child.kill("SIGTERM");
    expect(await exit()).to.equal(0);
    expect(steps()).to.deep.equal(["start first", "stop first"]);
  });

  for (const [behaviour, what] of [
    ["rejects", "an unhandled rejection"],
    ["throws", "an uncaught exception"],
  ] as const) {
    it(`logs ${what}, stops its parts and exits 1`, async () => {
      run(behaviour);
      expect(await exit()).to.equal(1);
      expect(events()).to.deep.equal(["program.started", "program.crashed", "program.stopped"]);
      expect(steps().slice(3)).to.deep.equal(["stop last", "stop middle", "stop first"]);
    });
  }
});
