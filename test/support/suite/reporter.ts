import { writeFileSync } from "node:fs";
import { relative } from "node:path";
import { inspect } from "node:util";
import Mocha from "mocha";
import { cpuUs, treeCpuUs } from "../../../dev/processes/usage.ts";

/** What a run of tests came to. */
export type Tally = { passed: number; failed: number };

/** A test that ran, and how long it took, the hooks before it included. */
export type TimedTest = { title: string; file: string; tookMs: number };

/**
 * What some tests came to. `failures` names each test and hook that failed, and says why; `cpuMs` is what this process has
 * used, `loadCpuMs` of it for the loading of the files, and `startedCpuMs` what those have that it started.
 */
export type Report = Tally & { failures: string[]; tests: TimedTest[]; loadCpuMs: number } & CpuMs;

type CpuMs = { cpuMs: number; startedCpuMs: number };

/** Names the file into which the report is written, as JSON. */
export const reportVariable = "HERALD_TEST_REPORT";

const exitGraceMs = 60_000;

/** Gathers the report of a run while it goes on, whose loading began at such a CPU. */
export const reportOf = (runner: Mocha.Runner, before: CpuMs): Report => {
  const report: Report = { passed: 0, failed: 0, failures: [], tests: [], loadCpuMs: 0, cpuMs: 0, startedCpuMs: 0 };
  report.loadCpuMs = cpuSoFar().cpuMs - before.cpuMs;
  let endedMs = performance.now();
  runner.on("pass", () => report.passed++);
  runner.on("fail", (failed, error: unknown) => {
    report.failed++;
    report.failures.push(`${failed.fullTitle()}\n${reasonOf(error)}`);
  });
  runner.on("test end", (test) => {
    const tookMs = Math.round(performance.now() - endedMs);
    endedMs = performance.now();
    report.tests.push({ title: test.fullTitle(), file: relative(process.cwd(), test.file ?? ""), tookMs });
  });
  runner.once("end", () => {
    const now = cpuSoFar();
    report.cpuMs = now.cpuMs - before.cpuMs;
    report.startedCpuMs = now.startedCpuMs - before.startedCpuMs;
  });
  return report;
};

const mostReasonLines = 10;
const mostReasonChars = 2_000;

/** The head of an error and of its cause without their stacks, indented. The whole is printed where the test ran. */
const reasonOf = (error: unknown): string =>
  inspect(error)
    .slice(0, mostReasonChars)
    .split("\n")
    .filter((line) => !/^\s+at /.test(line))
    .slice(0, mostReasonLines)
    .map((line) => `      ${line}`)
    .join("\n");

/** What this process has used since its begin, and those that it started, which may have ended. */
export const cpuSoFar = (): CpuMs => {
  const [ownUs, allUs] = [cpuUs(process.pid), treeCpuUs(process.pid)];
  return { cpuMs: ownUs / 1_000, startedCpuMs: (allUs - ownUs) / 1_000 };
};

/** Mocha's `spec`, which also leaves a report in a file, and fails a run that leaves something open behind it. */
class FileReporter extends Mocha.reporters.Spec {
  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    const report = reportOf(runner, { cpuMs: 0, startedCpuMs: 0 });
    runner.once("end", () => {
      writeReport(report);
      setTimeout(() => failOpenEnded(report), exitGraceMs).unref(); // fires only if something is open
    });
  }
}

const writeReport = (report: Report): void => {
  const file = process.env[reportVariable];
  if (file) writeFileSync(file, JSON.stringify(report));
};

const failOpenEnded = (report: Report): void => {
  const what = leftOpen(process.getActiveResourcesInfo());
  console.error(what);
  writeReport({ ...report, failed: report.failed + 1, failures: [...report.failures, what] });
  process.exit(1);
};

/** What is said of tests that ended while something of theirs goes on. */
export const leftOpen = (what: readonly string[]): string => `The tests ended but left open: ${what.join(", ")}`;

// oxlint-disable-next-line import/no-default-export -- mocha takes a reporter from a file's default export only
export default FileReporter;
