import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { soakVariable } from "../../test/support/suite/soak.ts";
import { rootDir } from "../files/paths.ts";
import { alone, aloneInSoak, sharingOneProcess } from "./neighbours.ts";

/** Test files that run in one process, one after the other. */
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

/** Each file by itself; unit tests by their folder, and those in one process that share it. Longest first. */
export const runsOf = (files: readonly string[]): Run[] => {
  const times = readTimes();
  const runs = [...Map.groupBy(files, nameOf)].map(([name, group]) => ({
    name,
    files: group,
    expectedMs: times[name] ?? Number.MAX_SAFE_INTEGER,
    isAlone: group.some(isAlone),
  }));
  return runs.sort((a, b) => b.expectedMs - a.expectedMs);
};

const isAlone = (file: string): boolean =>
  alone.includes(file) || (process.env[soakVariable] === "1" && aloneInSoak.includes(file));

/** Writes down how long the runs took, for the order of the next ones. */
export const keepTimes = (times: Readonly<Record<string, number>>): void => {
  const sorted = Object.entries({ ...readTimes(), ...times }).toSorted(([a], [b]) => a.localeCompare(b));
  writeFileSync(timesPath, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
};

const nameOf = (file: string): string => {
  const [first = file] = sharingOneProcess.find(({ files }) => files.includes(file))?.files ?? [];
  if (first !== file) return nameOf(first);
  const [, unit] = /^test\/(unit\/(?:dispatcher\/net\/http2|[^/]+))\//.exec(file) ?? []; // those of HTTP/2 wait: beside others
  return unit ?? file.replace(/^test\//, "").replace(/\.test\.ts$/, "");
};

const readTimes = (): Record<string, number> => {
  try {
    return JSON.parse(readFileSync(timesPath, "utf8")) as Record<string, number>; // written above
  } catch {
    return {}; // only the order depends on it
  }
};
