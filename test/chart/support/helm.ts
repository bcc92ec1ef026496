import { globSync } from "node:fs";
import { basename, join } from "node:path";
import { parseAllDocuments } from "yaml";
import { findTool } from "../../../dev/find-tool.ts";
import { rootDir } from "../../../dev/paths.ts";
import { command } from "../../../dev/run-command.ts";

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
  return command([path, ...args], { input });
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
