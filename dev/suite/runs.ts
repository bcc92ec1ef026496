import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir } from "../paths.ts";

/** Test files that share one process. */
export type Run = {
  name: string;
  files: readonly string[];
  /** How long it took when that was written down last; unknown ones are taken for long. */
  expectedMs: number;
  /** Whether it judges how long something takes, so that nothing else may run beside it. */
  isAlone: boolean;
};

const timesPath = join(rootDir, "test/times.json");

/** The test files of a folder of `test`. */
export const filesIn = (folder: string): string[] =>
  globSync(`test/${folder}/**/*.test.ts`, { cwd: rootDir }).toSorted();

/** A process for each file, but one for each folder of unit tests: those take less time than a process. Longest first. */
export const runsOf = (files: readonly string[], alone: readonly string[]): Run[] => {
  const times = readTimes();
  const groups = Map.groupBy(files, nameOf);
  const runs = [...groups].map(([name, group]) => ({
    name,
    files: group,
    expectedMs: times[name] ?? Number.MAX_SAFE_INTEGER,
    isAlone: group.some((file) => alone.includes(file)),
  }));
  return runs.sort((a, b) => b.expectedMs - a.expectedMs);
};

/** Writes down how long the runs took, for the order of the next ones. */
export const keepTimes = (times: Readonly<Record<string, number>>): void => {
  const sorted = Object.entries(times).toSorted(([a], [b]) => a.localeCompare(b));
  writeFileSync(timesPath, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
};

const nameOf = (file: string): string => {
  const [, unit] = /^test\/(unit\/[^/]+)\//.exec(file) ?? [];
  return unit ?? file.replace(/^test\//, "").replace(/\.test\.ts$/, "");
};

const readTimes = (): Record<string, number> => {
  try {
    return JSON.parse(readFileSync(timesPath, "utf8")) as Record<string, number>; // written above
  } catch {
    return {}; // only the order depends on it
  }
};
