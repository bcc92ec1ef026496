import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Tally, tallyVariable } from "../test/support/reporter.ts";
import { devDir, rootDir } from "./paths.ts";

const tallyPath = join(devDir, "tally.json");

/** Runs tests with our reporter. A run that leaves no tally has broken down, and one without a test failed too. */
export const runMocha = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<Tally> => {
  mkdirSync(devDir, { recursive: true });
  rmSync(tallyPath, { force: true });
  const options = ["--forbid-only", "--reporter", "test/support/reporter.ts"];
  const mocha = spawn(process.execPath, ["node_modules/mocha/bin/mocha.js", ...options, ...args], {
    cwd: rootDir,
    env: { ...process.env, ...env, [tallyVariable]: tallyPath },
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => mocha.kill(signal));
  const code = await new Promise((done) => mocha.once("close", done));
  const { passed, failed } = readTally();
  return { passed, failed: code === 0 ? failed : Math.max(failed, 1) };
};

const readTally = (): Tally => {
  try {
    return JSON.parse(readFileSync(tallyPath, "utf8")) as Tally; // written by our reporter
  } catch {
    return { passed: 0, failed: 1 };
  }
};
