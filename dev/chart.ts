import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { Tally } from "../test/support/reporter.ts";
import { testVariables } from "../test/support/servers.ts";
import { missingChartTools } from "./install/chart-tools.ts";
import { say } from "./install/progress.ts";
import { runMocha } from "./mocha.ts";
import { devDir, rootDir, testDir, testPortBase } from "./paths.ts";
import { withLock } from "./servers/lock.ts";
import { serverKinds, startStack } from "./servers/stack.ts";

// `make chart`: everything about the chart that needs no node, judged by the usual tools and a real API server. The last
// line says `N passed, N failed`; the code is 3 when a tool is missing.
const chart = async (): Promise<Tally> => {
  const { values, positionals } = parseArgs({ options: { filter: { type: "string" } }, allowPositionals: true });
  const files = positionals.length > 0 ? positionals : globSync("test/chart/**/*.test.ts", { cwd: rootDir }).toSorted();
  const stack = await startStack({ dir: testDir, portBase: testPortBase() });
  const addresses = serverKinds.map((kind) => [testVariables[kind], stack.found[kind]?.address]);
  try {
    return await runMocha(
      [...(values.filter ? ["--grep", values.filter] : []), ...files],
      Object.fromEntries(addresses) as NodeJS.ProcessEnv, // an address or undefined for each name
    );
  } finally {
    await stack.stop();
  }
};

const missing = missingChartTools();
if (missing.length > 0) {
  say(`${missing.join(", ")} cannot be found: make install-chart-tools, or name their folder in HERALD_TOOLS`);
  process.exit(3);
}
const tally = await withLock(join(devDir, "test.lock"), chart).catch((error: unknown): Tally => {
  console.error(error);
  return { passed: 0, failed: 1 };
});
console.log(`${tally.passed} passed, ${tally.failed} failed`);
process.exit(tally.failed === 0 ? 0 : 1);
