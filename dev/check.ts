import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { rootDir } from "./files/paths.ts";
import { attempt } from "./processes/run-command.ts";
import { inPlaces } from "./suite/pool.ts";

// `make check`: everything that needs no server. Runs all of it, shows the output of what failed, then a summary.
const tools = join(rootDir, "node_modules/.bin");
const env = { PATH: `${tools}:${process.env.PATH}` }; // the tools run on the Node that is found first
const timeoutMs = 600_000; // ten times what the slowest takes beside a busy core

const tool = (name: string, ...args: string[]): string[] => [join(tools, name), ...args];

/** The longest first. */
const checks: Record<string, string[]> = {
  unit: tool("mocha", "--forbid-only", "--reporter", "dot", "test/unit/**/*.test.ts"),
  types: tool("tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", ".dev/types.tsbuildinfo"), // again: a tenth of the time
  client: tool("tsc", "-p", "sdk/web"),
  worker: tool("tsc", "-p", "sdk/web/src/worker"),
  lint: tool("oxlint"),
  fresh: tool("node", "dev/generate.ts", "--check"),
  dead: tool("knip"),
  promises: tool("node", "dev/compatible.ts"),
  format: tool("biome", "check", "."),
};

const passes = async ([name, words]: [string, string[]]): Promise<boolean> => {
  const began = Date.now();
  const { code, stdout, stderr } = await attempt(words, { env, timeoutMs });
  if (code !== 0) console.log(`${stdout}\n${stderr}`.trim());
  console.log(`${name.padEnd(8)} ${code === 0 ? "ok" : "FAILED"} ${((Date.now() - began) / 1000).toFixed(1)} s`);
  return code === 0;
};

const { values } = parseArgs({ options: { without: { type: "string" } } });
if (values.without !== undefined && !(values.without in checks)) {
  console.error(`there is no check "${values.without}": ${Object.keys(checks).join(", ")}`);
  process.exit(2);
}
const wanted = Object.entries(checks).filter(([name]) => name !== values.without);
const outcomes = await inPlaces(wanted, availableParallelism(), passes);
const failed = wanted.flatMap(([name], i) => (outcomes[i] ? [] : [name]));
console.log(failed.length === 0 ? "All checks pass" : `Failed: ${failed.join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);
