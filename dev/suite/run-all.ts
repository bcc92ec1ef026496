import type { Report } from "../../test/support/suite/reporter.ts";
import { portsVariable } from "../processes/free-ports.ts";
import { inPlaces } from "./pool.ts";
import type { Run } from "./runs.ts";
import { startWorker, type Worker } from "./worker.ts";

/** What a run came to. */
export type Ended = { run: Run; report: Report; tookMs: number };

/** `jobs`: how many processes there are, each with ports of its own. */
export type SuiteOptions = { jobs: number; env: NodeJS.ProcessEnv };

/**
 * Runs what can share the machine, then one after the other what judges time. Shows each as it ends. When `signal` aborts,
 * what runs has failed and the rest is left.
 */
export const runAll = async (
  runs: readonly Run[],
  { jobs, env }: SuiteOptions,
  signal: AbortSignal,
): Promise<Ended[]> => {
  const workers = Array.from({ length: jobs }, (_, place) =>
    startWorker(`worker-${place}`, { ...env, [portsVariable]: `${place}/${jobs}` }),
  );
  const shared = runs.filter(({ isAlone }) => !isAlone);
  const alone = runs.filter(({ isAlone }) => isAlone);
  const work = (run: Run, place: number) => runOne(run, workers[place]!); // there is one for each place
  const endAll = () => Promise.all(workers.map((worker) => worker.end()));
  signal.addEventListener("abort", endAll);
  const ended = [
    ...(await inPlaces(shared, jobs, work, signal)),
    ...(await inPlaces(alone, 1, work, signal)), // in the first worker
  ];
  await endAll();
  return ended;
};

const runOne = async (run: Run, worker: Worker): Promise<Ended> => {
  const beganMs = performance.now();
  const { report, output } = await worker.run(run.files);
  const ended = { run, report, tookMs: Math.round(performance.now() - beganMs) };
  console.log(lineOf(ended));
  if (report.failed > 0) console.log(output);
  return ended;
};

const lineOf = ({ run, report, tookMs }: Ended): string => {
  const mark = report.failed === 0 ? "✔" : "✖";
  const count = `${report.passed} passed${report.failed === 0 ? "" : `, ${report.failed} failed`}`;
  return `${mark} ${seconds(tookMs).padStart(8)} (CPU ${seconds(cpuOf(report)).padStart(7)})  ${run.name}: ${count}`;
};

/** What the tests used, the programs that they started included. */
export const cpuOf = ({ cpuMs, startedCpuMs }: Report): number => cpuMs + startedCpuMs;

export const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
