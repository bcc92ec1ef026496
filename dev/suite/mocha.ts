import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Report, reportVariable } from "../../test/support/suite/reporter.ts";
import { devDir, rootDir } from "../files/paths.ts";

const reportPath = join(devDir, "report.json");

/**
 * Runs tests in a process of their own, and shows what it prints. One that leaves no report has broken down, and one
 * without a test failed too.
 */
export const runMocha = async (args: readonly string[], env: NodeJS.ProcessEnv): Promise<Report> => {
  mkdirSync(devDir, { recursive: true });
  rmSync(reportPath, { force: true });
  const options = ["--forbid-only", "--reporter", "test/support/suite/reporter.ts"];
  const mocha = spawn(process.execPath, ["node_modules/mocha/bin/mocha.js", ...options, ...args], {
    cwd: rootDir,
    env: { ...process.env, ...env, [reportVariable]: reportPath },
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => mocha.kill(signal));
  const code = await new Promise((done) => mocha.once("close", done));
  const report = readReport();
  return code === 0 ? report : { ...report, failed: Math.max(report.failed, 1) };
};

const readReport = (): Report => {
  try {
    return JSON.parse(readFileSync(reportPath, "utf8")) as Report; // written by our reporter
  } catch {
    return {
      passed: 0,
      failed: 1,
      failures: ["the tests broke down: there is no report"],
      tests: [],
      loadCpuMs: 0,
      cpuMs: 0,
      startedCpuMs: 0,
    };
  }
};
