import { type Ended, seconds } from "./run-all.ts";

const shown = 10;

/** What a test of each folder may cost on average, in ms of CPU, its programs included: see CONTRIBUTING.md, "The suite". */
export const budgetsMs: Readonly<Record<string, number>> = {
  unit: 5,
  conformance: 150,
  integration: 150,
  chaos: 20_000,
};

/** What all cost, the dearest and the slowest files and the slowest tests, and all that failed. */
export const summaryOf = (ended: readonly Ended[]): string => {
  const files = ended.map(({ run, tookMs }) => ({ what: run.name, ms: tookMs }));
  const costs = ended.map((one) => ({ what: `${one.run.name}: ${eachOf(one)}`, ms: one.report.cpuMs }));
  const tests = ended.flatMap(({ report }) => report.tests.map(({ title, tookMs }) => ({ what: title, ms: tookMs })));
  const failures = ended.flatMap(({ run, report }) => report.failures.map((title) => `  ${run.name}: ${title}`));
  const parts = [
    [
      `${seconds(sumOf(costs))} of CPU in ${ended.length} runs of ${seconds(sumOf(files))}, the shared servers not counted`,
    ],
    [`The ${shown} dearest files, by CPU`, ...most(costs)],
    [`The ${shown} slowest files`, ...most(files)],
    [`The ${shown} slowest tests, with the hooks before them`, ...most(tests)],
    failures.length > 0 ? ["Failed", ...failures] : [],
  ];
  return `\n${parts.map((lines) => lines.map((line) => `${line}\n`).join("")).join("\n")}`;
};

/** What a test of a file cost on average, and what it may. */
const eachOf = ({ run, report }: Ended): string => {
  const eachMs = Math.round(report.cpuMs / Math.max(1, report.tests.length));
  const budgetMs = budgetsMs[run.name.split("/")[0] ?? ""];
  const bound = budgetMs === undefined ? "" : `, of ${budgetMs} ms that it may`;
  return `${eachMs} ms a test${bound}`;
};

type Timed = { what: string; ms: number };

const sumOf = (timed: readonly Timed[]): number => timed.reduce((sum, { ms }) => sum + ms, 0);

const most = (timed: readonly Timed[]): string[] =>
  timed
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, shown)
    .map(({ what, ms }) => `  ${seconds(ms).padStart(8)}  ${what}`);
