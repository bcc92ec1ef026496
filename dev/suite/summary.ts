import { type Ended, seconds } from "./run-all.ts";

const shown = 10;

/** The slowest files and tests, and all that failed. */
export const summaryOf = (ended: readonly Ended[]): string => {
  const files = ended.map(({ run, tookMs }) => ({ what: run.name, tookMs }));
  const tests = ended.flatMap(({ report }) => report.tests.map(({ title, tookMs }) => ({ what: title, tookMs })));
  const failures = ended.flatMap(({ run, report }) => report.failures.map((title) => `  ${run.name}: ${title}`));
  const parts = [
    [`The ${shown} slowest files`, ...slowest(files)],
    [`The ${shown} slowest tests, with the hooks before them`, ...slowest(tests)],
    failures.length > 0 ? ["Failed", ...failures] : [],
  ];
  return `\n${parts.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n")}`;
};

const slowest = (timed: readonly { what: string; tookMs: number }[]): string[] =>
  timed
    .toSorted((a, b) => b.tookMs - a.tookMs)
    .slice(0, shown)
    .map(({ what, tookMs }) => `  ${seconds(tookMs).padStart(8)}  ${what}`);
