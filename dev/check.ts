import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { rootDir } from "./paths.ts";

// `make check`: everything that needs no server. Runs all of it, shows the output of what failed, then a summary.
const tools = join(rootDir, "node_modules/.bin");
const env = { ...process.env, PATH: `${tools}:${process.env.PATH}` }; // the tools run on the Node that is found first

const tool = (name: string, ...args: string[]): string[] => [join(tools, name), ...args];

const checks: Record<string, string[]> = {
  format: tool("biome", "check", "."),
  lint: tool("oxlint"),
  types: tool("tsc", "--noEmit"),
  dead: tool("knip"),
  unit: tool("mocha", "--forbid-only", "--reporter", "dot", "test/unit/**/*.test.ts"),
  fresh: tool("node", "dev/generate.ts", "--check"),
};

const passes = (name: string, [program = "", ...args]: string[]): boolean => {
  const began = Date.now();
  const { status, output } = spawnSync(program, args, { cwd: rootDir, env, encoding: "utf8", maxBuffer: 64 * 2 ** 20 });
  if (status !== 0) console.log(output.join("\n").trim());
  console.log(`${name.padEnd(8)} ${status === 0 ? "ok" : "FAILED"} ${((Date.now() - began) / 1000).toFixed(1)} s`);
  return status === 0;
};

const failed = Object.entries(checks).filter(([name, words]) => !passes(name, words));
console.log(failed.length === 0 ? "All checks pass" : `Failed: ${failed.map(([name]) => name).join(", ")}`);
process.exit(failed.length === 0 ? 0 : 1);
