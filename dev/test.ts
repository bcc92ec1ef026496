import { globSync, rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Tally } from "../test/support/reporter.ts";
import { testVariables } from "../test/support/servers.ts";
import { runMocha } from "./mocha.ts";
import { devDir, rootDir, testDir, testPortBase } from "./paths.ts";
import { withLock } from "./servers/lock.ts";
import { isStackRunning, serverKinds, startStack } from "./servers/stack.ts";

// `make test`: the suite, or a part of it, on real servers. The last line says `N passed, N failed`.
const folders = ["unit", "conformance", "integration", "chaos"];

const test = async (): Promise<Tally> => {
  const { values, positionals } = parseArgs({ options: { filter: { type: "string" } }, allowPositionals: true });
  const files = positionals.length > 0 ? positionals : folders.flatMap(testFiles);
  if (!isStackRunning(testDir)) rmSync(testDir, { recursive: true, force: true }); // each run begins with no data
  const stack = await startStack({ dir: testDir, portBase: testPortBase() });
  try {
    const addresses = serverKinds.map((kind) => [testVariables[kind], stack.found[kind]?.address]);
    return await runMocha(
      [...(values.filter ? ["--grep", values.filter] : []), ...files],
      Object.fromEntries(addresses),
    );
  } finally {
    await stack.stop();
  }
};

const testFiles = (folder: string): string[] => globSync(`test/${folder}/**/*.test.ts`, { cwd: rootDir }).toSorted();

const tally = await withLock(join(devDir, "test.lock"), test).catch((error: unknown): Tally => {
  console.error(error);
  return { passed: 0, failed: 1 };
});
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);
