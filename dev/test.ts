import { spawn } from "node:child_process";
import { globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type Tally, tallyVariable } from "../test/support/reporter.ts";
import { testVariables } from "../test/support/servers.ts";
import { devDir, rootDir, testDir, testPortBase } from "./paths.ts";
import { withLock } from "./servers/lock.ts";
import { isStackRunning, type Stack, serverKinds, startStack } from "./servers/stack.ts";

// `make test`: the suite, or a part of it, on real servers. The last line says `N passed, N failed`.
const folders = ["unit", "conformance", "integration", "chaos"];
const tallyPath = join(devDir, "tally.json");

const test = async (): Promise<Tally> => {
  const { values, positionals } = parseArgs({ options: { filter: { type: "string" } }, allowPositionals: true });
  const files = positionals.length > 0 ? positionals : folders.flatMap(testFiles);
  if (!isStackRunning(testDir)) rmSync(testDir, { recursive: true, force: true }); // each run begins with no data
  const stack = await startStack({ dir: testDir, portBase: testPortBase() });
  try {
    const code = await runMocha([...(values.filter ? ["--grep", values.filter] : []), ...files], stack);
    const { passed, failed } = readTally();
    return { passed, failed: code === 0 ? failed : Math.max(failed, 1) }; // no test found is a failure too
  } finally {
    await stack.stop();
  }
};

const testFiles = (folder: string): string[] => globSync(`test/${folder}/**/*.test.ts`, { cwd: rootDir }).toSorted();

const runMocha = async (args: string[], { found }: Stack): Promise<unknown> => {
  const addresses = Object.fromEntries(serverKinds.map((kind) => [testVariables[kind], found[kind]?.address]));
  mkdirSync(devDir, { recursive: true });
  rmSync(tallyPath, { force: true });
  const options = ["--forbid-only", "--reporter", "test/support/reporter.ts"];
  const mocha = spawn(process.execPath, ["node_modules/mocha/bin/mocha.js", ...options, ...args], {
    cwd: rootDir,
    env: { ...process.env, ...addresses, [tallyVariable]: tallyPath },
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => mocha.kill(signal));
  return new Promise((done) => mocha.once("close", done));
};

/** A run that left no tally broke down: that is a failure too. */
const readTally = (): Tally => {
  try {
    return JSON.parse(readFileSync(tallyPath, "utf8")) as Tally; // written by our reporter
  } catch {
    return { passed: 0, failed: 1 };
  }
};

const tally = await withLock(join(devDir, "test.lock"), test).catch((error: unknown): Tally => {
  console.error(error);
  return { passed: 0, failed: 1 };
});
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);
