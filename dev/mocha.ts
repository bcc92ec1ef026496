import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Report, reportVariable } from "../test/support/reporter.ts";
import { devDir, rootDir } from "./paths.ts";

export type MochaOptions = {
  /** Sets processes that run at the same time apart. */
  name: string;
  /** Mocha's arguments: options and files. */
  args: readonly string[];
  env: NodeJS.ProcessEnv;
  /** Whether what it prints is kept for the end, in `.dev/reports`, instead of being shown at once. */
  isQuiet?: boolean;
};

/** The report of a process; `output` is what a quiet one printed. */
export type MochaRun = Report & { output: string };

/** Runs tests in a process of their own. One that leaves no report has broken down, and so has failed. */
export const runMocha = async ({ name, args, env, isQuiet = false }: MochaOptions): Promise<MochaRun> => {
  const [reportPath, outputPath] = ["json", "log"].map((ending) => join(reportsDir, `${name}.${ending}`)) as [
    string,
    string,
  ];
  mkdirSync(reportsDir, { recursive: true });
  rmSync(reportPath, { force: true });
  const output = isQuiet ? openSync(outputPath, "w") : "inherit";
  const code = await ended({ args, env: { ...env, [reportVariable]: reportPath }, output });
  if (output !== "inherit") closeSync(output);
  const report = readReport(reportPath);
  const printed = isQuiet ? readFileSync(outputPath, "utf8") : "";
  if (code === 0 || report.failed > 0) return { ...report, output: printed };
  return { ...report, failed: 1, failures: [`${name}: ended with ${code}`], output: printed };
};

const reportsDir = join(devDir, "reports");
const signals = ["SIGINT", "SIGTERM"] as const;

type Start = { args: readonly string[]; env: NodeJS.ProcessEnv; output: number | "inherit" };

const ended = async ({ args, env, output }: Start): Promise<number | null> => {
  const options = ["--forbid-only", "--reporter", "test/support/reporter.ts"];
  const cache = { NODE_COMPILE_CACHE: join(devDir, "compile-cache") };
  const mocha = spawn(process.execPath, ["node_modules/mocha/bin/mocha.js", ...options, ...args], {
    cwd: rootDir,
    env: { ...process.env, ...cache, ...env },
    stdio: ["ignore", output, output],
  });
  const forward = (signal: NodeJS.Signals) => mocha.kill(signal);
  for (const signal of signals) process.on(signal, forward);
  const code = await new Promise<number | null>((done) => mocha.once("close", done));
  for (const signal of signals) process.off(signal, forward);
  return code;
};

const readReport = (path: string): Report => {
  try {
    return JSON.parse(readFileSync(path, "utf8")) as Report; // written by our reporter
  } catch {
    return { passed: 0, failed: 1, failures: ["the tests broke down: there is no report"], tests: [] };
  }
};
