import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startWorker, type Worker } from "../../../../dev/suite/worker.ts";

describe("a process of the suite", () => {
  let dir: string;
  let worker: Worker;
  let made = 0;

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), "herald-worker-"));
    worker = startWorker(`worker-test-${process.pid}`, { TEST_EXIT_GRACE_MS: "500" });
  });
  after(async () => {
    await worker.end();
    await rm(dir, { recursive: true });
  });

  const run = async (source: string) => {
    const file = join(dir, `planted-${made++}.test.mjs`);
    await writeFile(file, source);
    return worker.run([file]);
  };

  it("reports what passed and what failed, with what was printed", async () => {
    const { report, output } = await run(`
      it("holds", () => undefined);
      it("does not", () => { throw new Error("planted-4711"); });`);
    expect(report).to.include({ passed: 1, failed: 1 });
    expect(report.failures.join()).to.match(/^does not\n +Error: planted-4711/);
    expect(report.tests.map(({ title }) => title)).to.deep.equal(["holds", "does not"]);
    expect(output).to.include("planted-4711");
  });

  it("fails a file whose hook fails, and one without a test", async () => {
    const { report } = await run(`before(() => { throw new Error("no"); }); it("never runs", () => undefined);`);
    expect(report).to.include({ passed: 0, failed: 1 });
    expect((await run("")).report.failed).to.equal(1);
  });

  it("fails a file that ends the process, and runs the next in another", async () => {
    const { report } = await run(`it("ends it", () => process.exit(0));`);
    expect(report).to.include({ passed: 0, failed: 1 });
    expect((await run(`it("holds", () => undefined);`)).report).to.include({ passed: 1, failed: 0 });
  });

  it("fails a test during which a promise is rejected that nobody waits for", async () => {
    const { report } = await run(
      `it("leaves it", () => new Promise(() => void Promise.reject(new Error("planted-4712"))));`,
    );
    expect(report.failures.join()).to.match(/^leaves it\n +Error: planted-4712/);
  });

  it("says how a process ended, with its last words", async () => {
    const { report } = await run(`it("ends it", () => { console.error("planted-4713"); process.exit(3); });`);
    expect(report.failures.join()).to.match(/^the process ended with code 3\n[^]*planted-4713/);
  });

  it("fails a file that cannot be read, and runs the next", async () => {
    expect((await run("this is no JavaScript")).report.failed).to.equal(1);
    expect((await run(`it("holds", () => undefined);`)).report).to.include({ passed: 1, failed: 0 });
  });

  it("fails a file that leaves something open, and not the next for it", async () => {
    const { report } = await run(`
      import { createServer } from "node:net";
      it("leaves a server", (done) => void createServer().listen(0, "127.0.0.1", done));`);
    expect(report).to.include({ passed: 1, failed: 1 });
    expect(report.failures.join()).to.include("TCPServerWrap");
    expect((await run(`it("holds", () => undefined);`)).report).to.include({ passed: 1, failed: 0 });
  });

  it("waits for what closes a moment later", async () => {
    const { report } = await run(`it("leaves a timer", () => void setTimeout(() => undefined, 100));`);
    expect(report).to.include({ passed: 1, failed: 0 });
  });
});
