import { cpuOf, type Ended, seconds } from "./run-all.ts";

const shown = 10;

/** What a test of each folder may cost on average, in ms of CPU, its programs included: see CONTRIBUTING.md, "The suite". */
export const budgetsMs: Readonly<Record<string, number>> = {
  unit: 5,
  conformance: 150,
  integration: 150,
  chaos: 20_000,
};

/** What `make test` may use of the processors, the servers that all share included: see CONTRIBUTING.md, "The suite". */
export const suiteBudgetSeconds = 650;

/**
 * What all cost, the dearest and the slowest files and the slowest tests, and all that failed. `serversMs` is the CPU of each
 * of the servers that all share.
 */
export const summaryOf = (ended: readonly Ended[], serversMs: Readonly<Record<string, number>>): string => {
  const files = ended.map(({ run, tookMs }) => ({ what: run.name, ms: tookMs }));
  const costs = ended.map((one) => ({ what: `${one.run.name}: ${eachOf(one)}`, ms: cpuOf(one.report) }));
  const [ownMs, loadMs, startedMs] = [sumBy(ended, "cpuMs"), sumBy(ended, "loadCpuMs"), sumBy(ended, "startedCpuMs")];
  const sharedMs = Object.values(serversMs).reduce((sum, ms) => sum + ms, 0);
  const tests = ended.flatMap(({ report }) => report.tests.map(({ title, tookMs }) => ({ what: title, ms: tookMs })));
  const failures = ended.flatMap(({ run, report }) => report.failures.map((title) => `  ${run.name}: ${title}`));
  const parts = [
    [
      `${seconds(ownMs + startedMs + sharedMs)} of CPU, in ${ended.length} runs of ${seconds(sumOf(files))}; all of make test may take ${suiteBudgetSeconds} s:`,
      `  ${seconds(loadMs).padStart(8)}  loading the files of tests`,
      `  ${seconds(ownMs - loadMs).padStart(8)}  the tests themselves`,
      `  ${seconds(startedMs).padStart(8)}  the programs and servers that they started`,
      ...Object.entries(serversMs).map(([name, ms]) => `  ${seconds(ms).padStart(8)}  ${name}, which all share`),
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
  const eachMs = Math.round(cpuOf(report) / Math.max(1, report.tests.length));
  const budgetMs = budgetsMs[run.name.split("/")[0] ?? ""];
  const bound = budgetMs === undefined ? "" : `, of ${budgetMs} ms that it may`;
  return `${eachMs} ms a test${bound}`;
};

const sumBy = (ended: readonly Ended[], which: "cpuMs" | "loadCpuMs" | "startedCpuMs"): number =>
  ended.reduce((sum, { report }) => sum + report[which], 0);

type Timed = { what: string; ms: number };

const sumOf = (timed: readonly Timed[]): number => timed.reduce((sum, { ms }) => sum + ms, 0);

const most = (timed: readonly Timed[]): string[] =>
  timed
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, shown)
    .map(({ what, ms }) => `  ${seconds(ms).padStart(8)}  ${what}`);
