import type { Report } from "../../test/support/reporter.ts";
import { runMocha } from "../mocha.ts";
import { portsVariable } from "../servers/free-ports.ts";
import { inPlaces } from "./pool.ts";
import type { Run } from "./runs.ts";

/** What a run came to. */
export type Ended = { run: Run; report: Report; tookMs: number };

export type SuiteOptions = {
  /** How many runs there are at a time, each with ports of its own. */
  jobs: number;
  env: NodeJS.ProcessEnv;
};

/** Runs what can share the machine, then one after the other what judges time. Shows each as it ends. */
export const runAll = async (runs: readonly Run[], suite: SuiteOptions): Promise<Ended[]> => {
  const shared = runs.filter(({ isAlone }) => !isAlone);
  const alone = runs.filter(({ isAlone }) => isAlone);
  const work = (run: Run, place: number) => runOne(run, place, suite);
  return [...(await inPlaces(shared, suite.jobs, work)), ...(await inPlaces(alone, 1, work))];
};

const runOne = async (run: Run, place: number, { jobs, env }: SuiteOptions): Promise<Ended> => {
  const beganMs = performance.now();
  const { output, ...report } = await runMocha({
    name: run.name.replaceAll("/", "."),
    args: run.files,
    env: { ...env, [portsVariable]: `${place}/${jobs}` },
    isQuiet: true,
  });
  const ended = { run, report, tookMs: Math.round(performance.now() - beganMs) };
  console.log(lineOf(ended));
  if (report.failed > 0) console.log(output);
  return ended;
};

const lineOf = ({ run, report, tookMs }: Ended): string => {
  const mark = report.failed === 0 ? "✔" : "✖";
  const count = `${report.passed} passed${report.failed === 0 ? "" : `, ${report.failed} failed`}`;
  return `${mark} ${seconds(tookMs).padStart(8)}  ${run.name}: ${count}`;
};

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
