import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { findTool } from "../../../dev/files/find-tool.ts";
import { rootDir } from "../../../dev/files/paths.ts";
import { attempt, command, type Outcome } from "../../../dev/processes/run-command.ts";

/** The chart's folder. */
export const chartDir = join(rootDir, "charts/herald");

/** Values files that a chart of many kinds of users has to bear, by name. */
export const valuesFiles: Readonly<Record<string, string>> = Object.fromEntries(
  globSync("test/chart/values/*.yaml", { cwd: rootDir })
    .toSorted()
    .map((path) => [basename(path, ".yaml"), join(rootDir, path)]),
);

/** Runs one of the chart's tools. What it printed is the error's message when it fails. */
export const runTool = async (name: string, args: readonly string[], input = ""): Promise<string> =>
  command([pathOf(name), ...args], { input });

/** The same; what it printed also when it failed. */
export const attemptTool = async (name: string, args: readonly string[]): Promise<Outcome> =>
  attempt([pathOf(name), ...args]);

const pathOf = (name: string): string => {
  const path = findTool(name);
  if (path === null) throw new Error(`${name} is missing: make install-chart-tools`);
  return path;
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

/** What `helm template` makes of the chart with a file of values that stays as it is; it is asked once for each. */
export const render = (valuesPath: string, namespace: string, ...options: string[]): Promise<string> => {
  const args = ["template", "herald", chartDir, "--namespace", namespace, "--values", valuesPath, ...options];
  const key = args.join("\0");
  const text = rendered.get(key) ?? runTool("helm", args);
  rendered.set(key, text);
  return text;
};

const rendered = new Map<string, Promise<string>>();

/** The objects in what was rendered. */
export const objectsIn = (text: string): Rendered[] =>
  parseAllDocuments(text).flatMap((document) => (document.contents === null ? [] : [document.toJS() as Rendered]));
