import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { portOffsets } from "../../../dev/files/paths.ts";
import { freePorts } from "../../../dev/processes/free-ports.ts";
import { endRecorded, isRunning, killProcess, readRecord, recordProcess } from "../../../dev/processes/records.ts";
import { isStackRunning, startStack, stopStack } from "../../../dev/servers/stack.ts";
import { until } from "../../support/until.ts";

describe("the stack of servers", () => {
  let dir: string;
  let portBase: number;
  const up = (env: NodeJS.ProcessEnv = {}) => startStack({ dir, portBase, which: ["redis"], env });

  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "stack-"));
    const [port = 0] = await freePorts(1);
    portBase = port - portOffsets.redis;
  });
  afterEach(async () => {
    await stopStack(dir);
    await rm(dir, { recursive: true });
  });

  it("uses an address of the environment and starts nothing", async () => {
    const { found } = await up({ REDIS_URL: "redis://elsewhere:6379" });
    expect(found.redis).to.deep.equal({ address: "redis://elsewhere:6379", origin: "environment" });
    expect(isStackRunning(dir)).to.equal(false);
  });

  it("starts one server for two callers at once", async () => {
    const both = await Promise.all([up(), up()]);
    expect(both.map(({ found }) => found.redis?.origin)).to.have.members(["running", "started"]);
    expect(both[0].found.redis?.address).to.equal(both[1].found.redis?.address);
  });

  it("ends only what the call itself started", async () => {
    const first = await up();
    await (await up()).stop();
    expect(isStackRunning(dir), "after the second caller's stop").to.equal(true);
    await first.stop();
    expect(isStackRunning(dir), "after the first caller's stop").to.equal(false);
  });

  it("starts a server again that was killed", async () => {
    await up();
    const record = readRecord(dir, "redis");
    if (record) await killProcess(record);
    const { found } = await up();
    expect(found.redis?.origin).to.equal("started");
    expect(readRecord(dir, "redis")?.pid).not.to.equal(record?.pid);
  });

  it("refuses a port on which somebody else listens", async () => {
    const port = portBase + portOffsets.redis;
    const other = createServer().listen(port, "127.0.0.1");
    await once(other, "listening");
    const error = await up().catch((thrown: Error) => thrown.message);
    other.close();
    expect(error).to.contain(`port ${port} is taken`);
  });

  it("leaves a process alone that got the pid of a recorded one", async () => {
    const stranger = spawn("sleep", ["60"]);
    const pid = stranger.pid ?? 0;
    await until(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep")); // it has none while it begins
    recordProcess(dir, "program", { pid, marker: "node program.ts" });
    expect(await endRecorded(dir, "program")).to.equal(false);
    expect(isRunning({ pid, marker: "sleep 60" })).to.equal(true);
    recordProcess(dir, "program", { pid, marker: "sleep 60" });
    expect(await stopStack(dir)).to.deep.equal(["program"]);
    expect(await stopStack(dir)).to.deep.equal([]);
    expect(isRunning({ pid, marker: "sleep 60" })).to.equal(false);
  });
});
