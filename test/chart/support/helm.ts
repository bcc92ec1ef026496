import { execFile } from "node:child_process";
import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { parseAllDocuments } from "yaml";
import { findTool } from "../../../dev/find-tool.ts";
import { rootDir } from "../../../dev/paths.ts";

const execute = promisify(execFile);
const mostBytes = 32 * 1024 * 1024;
const deadlineMs = 60_000;

/** The chart's folder. */
export const chartDir = join(rootDir, "charts/herald");

/** Values files that a chart of many kinds of users has to bear, by name. */
export const valuesFiles: Readonly<Record<string, string>> = Object.fromEntries(
  globSync("test/chart/values/*.yaml", { cwd: rootDir })
    .toSorted()
    .map((path) => [basename(path, ".yaml"), join(rootDir, path)]),
);

/** Runs one of the chart's tools. What it printed is the error's message when it fails. */
export const runTool = async (name: string, args: readonly string[], input = ""): Promise<string> => {
  const path = findTool(name);
  if (path === null) throw new Error(`${name} is missing: make install-chart-tools`);
  const running = execute(path, args, { cwd: rootDir, maxBuffer: mostBytes, timeout: deadlineMs });
  running.child.stdin?.end(input);
  try {
    return (await running).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string }; // sound: promisified execFile adds both
    throw new Error(`${name} ${args.slice(0, 2).join(" ")} failed:\n${stdout}${stderr}`, { cause: error });
  }
};

/** A rendered object, as far as tests look at it. */
export type Rendered = {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; annotations?: Record<string, string>; labels: Record<string, string> };
  spec?: Record<string, unknown>;
  data?: Record<string, string>;
  rules?: { apiGroups: string[]; resources: string[]; verbs: string[]; resourceNames?: string[] }[];
};

/** What `helm template` makes of the chart. */
export const render = (valuesPath: string, namespace: string, ...options: string[]): Promise<string> =>
  runTool("helm", ["template", "herald", chartDir, "--namespace", namespace, "--values", valuesPath, ...options]);

/** The objects in what was rendered. */
export const objectsIn = (text: string): Rendered[] =>
  parseAllDocuments(text).flatMap((document) => (document.contents === null ? [] : [document.toJS() as Rendered]));
