import { rmSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { testVariables } from "../../test/support/servers/servers.ts";
import type { Tally } from "../../test/support/suite/reporter.ts";
import { bundledPrograms } from "../bundle/bundled-programs.ts";
import { devDir, testDir, testPortBase } from "../files/paths.ts";
import { withLock } from "../processes/lock.ts";
import { isStackRunning, serverKinds, stackCpuUs, startStack } from "../servers/stack.ts";
import { runMocha } from "./mocha.ts";
import { type Ended, runAll } from "./run-all.ts";
import { keepTimes, runsOf } from "./runs.ts";
import { summaryOf } from "./summary.ts";

/**
 * Runs a suite, or the part of it that the command line names, on real servers: `--filter words`, paths of files,
 * `--jobs number`, `--keep-times`. The last line says `N passed, N failed`; gives the code to end with.
 */
export const runSuite = async (wholeSuite: () => string[]): Promise<number> => {
  const tally = await withLock(join(devDir, "test.lock"), () => run(wholeSuite)).catch((error: unknown): Tally => {
    console.error(error);
    return { passed: 0, failed: 1 };
  });
  console.log(`${tally.passed} passed, ${tally.failed} failed`);
  return tally.failed === 0 ? 0 : 1;
};

const jobsPerCore = 2; // much of a test's time is waiting

const run = async (wholeSuite: () => string[]): Promise<Tally> => {
  const { values, positionals } = parseArgs({
    options: {
      filter: { type: "string" },
      jobs: { type: "string", default: String(availableParallelism() * jobsPerCore) },
      "keep-times": { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const { filter, "keep-times": isKept } = values;
  const jobs = Number(values.jobs);
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64) throw new Error(`--jobs is from 1 to 64, not "${values.jobs}"`);
  const files = positionals.length > 0 ? positionals : wholeSuite();
  return withServers(async (env) => {
    if (filter) return runMocha(["--grep", filter, ...files], env);
    if (files.length === 1) return runMocha(files, env);
    const runs = runsOf(files);
    const before = stackCpuUs(testDir);
    const ended = await runAll(runs, { jobs, env }, endSignal());
    console.log(summaryOf(ended, serversMs(before, stackCpuUs(testDir))));
    if (isKept) keepTimes(Object.fromEntries(ended.map(({ run: { name }, tookMs }) => [name, tookMs])));
    const { passed, failed } = tallyOf(ended);
    return { passed, failed: failed + (runs.length - ended.length) }; // what was not begun has failed
  });
};

/** Starts the servers, unless they run, and gives their addresses as tests look for them. */
const withServers = async <T>(work: (env: NodeJS.ProcessEnv) => Promise<T>): Promise<T> => {
  if (!isStackRunning(testDir)) rmSync(testDir, { recursive: true, force: true }); // each run begins with no data
  process.env["FERRETDB_LOG_LEVEL"] ??= "WARN"; // a line for each command is a fifth of its CPU; private ones inherit it
  const starting = startStack({ dir: testDir, portBase: testPortBase(), throwaway: true });
  const [stack, programs] = await Promise.all([starting, bundledPrograms()]);
  try {
    const addresses = serverKinds.map((kind) => [testVariables[kind], stack.found[kind]?.address]);
    return await work({ ...programs, ...Object.fromEntries(addresses) });
  } finally {
    await stack.stop();
  }
};

/** What the shared servers used between two readings; of one that was started meanwhile, all. */
const serversMs = (before: Readonly<Record<string, number>>, now: typeof before): Record<string, number> =>
  Object.fromEntries(Object.entries(now).map(([name, us]) => [name, (us - (before[name] ?? 0)) / 1000]));

/** Aborts at the first signal, so that the servers are stopped all the same. */
const endSignal = (): AbortSignal => {
  const ending = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => ending.abort());
  return ending.signal;
};

const tallyOf = (ended: readonly Ended[]): Tally => ({
  passed: ended.reduce((sum, { report }) => sum + report.passed, 0),
  failed: ended.reduce((sum, { report }) => sum + report.failed, 0),
});
