// A process of `make test`: runs the test files that it is given, one set after another, and answers with a report of
// each. Sets share what they import; each must leave nothing open.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import Mocha from "mocha";
import { parse } from "yaml";
import "./rejections.ts";
import { cpuSoFar, leftOpen, type Report, reportOf } from "./reporter.ts";

/** What a process is given: the paths of test files. */
export type Order = { files: readonly string[] };

/** How long a file may take to close what it opened, in ms. */
const exitGraceMs = Number(process.env["TEST_EXIT_GRACE_MS"] ?? 60_000);
const { timeout } = parse(readFileSync(".mocharc.yaml", "utf8")) as { timeout: number };

const run = async ({ files }: Order): Promise<Report> => {
  const before = process.getActiveResourcesInfo();
  const cpuBefore = cpuSoFar();
  const mocha = new Mocha({ timeout, forbidOnly: true, reporter: "spec" });
  for (const file of files) mocha.addFile(file);
  await mocha.loadFilesAsync();
  const runner = mocha.run();
  const report = reportOf(runner, cpuBefore);
  await once(runner, "end");
  if (report.tests.length === 0 && report.failed === 0) return withFault(report, "There is no test");
  const open = await stillOpen(before);
  runner.dispose(); // or its listener would end the process at the first error that a later set leaves uncaught
  return open.length === 0 ? report : withFault(report, leftOpen(open));
};

const withFault = (report: Report, fault: string): Report => {
  console.error(fault);
  return { ...report, failed: report.failed + 1, failures: [...report.failures, fault] };
};

/** What keeps the process alive that did not before, at the end of the grace. */
const stillOpen = async (before: readonly string[]): Promise<string[]> => {
  const endsAtMs = performance.now() + exitGraceMs;
  for (;;) {
    const open = beyond(process.getActiveResourcesInfo(), before);
    if (open.length === 0 || performance.now() > endsAtMs) return open;
    await new Promise((resolve) => setTimeout(resolve, 10).unref());
  }
};

const beyond = (now: readonly string[], before: readonly string[]): string[] => {
  const known = [...before];
  return now.filter((what) => {
    const at = known.indexOf(what);
    if (at >= 0) known.splice(at, 1);
    return at < 0;
  });
};

process.on("disconnect", () => process.exit(1)); // whoever waits for the reports is gone
process.on("message", (order: Order) => {
  run(order).then(
    (report) => process.send?.(report),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
