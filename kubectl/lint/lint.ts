import { isSet, text, texts } from "../kit/arguments.ts";
import type { Run } from "../kit/command.ts";
import { UsageError } from "../kit/errors.ts";
import { type Checked, check } from "./check.ts";
import { readSources } from "./files.ts";
import type { Finding } from "./finding.ts";
import { sarif } from "./sarif.ts";

/** Checks files without a cluster; 0 when nothing is wrong, or only what may be meant. */
export const runLint: Run = async (given, { out, err, stdin, terminal }) => {
  const names = [...texts(given, "filename"), ...given.operands];
  if (names.length === 0) throw new UsageError("name the files or folders, e.g. -f deploy/; - reads stdin");
  const sources = await readSources(names, stdin);
  if (sources.length === 0) throw new UsageError(`there is no YAML or JSON file in ${names.join(", ")}`);
  const checked = check(sources, {
    namespace: text(given, "namespace") ?? "default",
    isWhole: !isSet(given, "partial"),
  });
  out(printed(checked, text(given, "output"), terminal?.hasColours ?? false));
  if (text(given, "output") !== undefined) err(`${summary(checked)}\n`);
  const counts = isSet(given, "strict") ? checked.findings : checked.findings.filter(isError);
  return counts.length === 0 ? 0 : 1;
};

const isError = ({ level }: Finding): boolean => level === "error";

const printed = (checked: Checked, format: string | undefined, hasColours: boolean): string => {
  if (format === "json") return `${JSON.stringify(checked, null, 2)}\n`;
  if (format === "sarif") return `${JSON.stringify(sarif(checked.findings), null, 2)}\n`;
  return [...checked.findings.map((finding) => line(finding, hasColours)), summary(checked), ""].join("\n");
};

const line = (
  { file, line: row, column, level, resource, path, message, rule }: Finding,
  hasColours: boolean,
): string => {
  const shown = hasColours ? `\u001b[${level === "error" ? 31 : 33}m${level}\u001b[39m` : level;
  const what = [resource, path === "" ? message : `${path} ${message}`].filter(Boolean).join(": ");
  return `${file}:${row}:${column}: ${shown}: ${what} [${rule}]`;
};

const summary = ({ findings, resources, files }: Checked): string => {
  const errors = findings.filter(isError).length;
  const found =
    findings.length === 0
      ? "nothing is wrong"
      : `${counted(errors, "error")}, ${counted(findings.length - errors, "warning")}`;
  return `${counted(resources, "resource")} in ${counted(files, "file")}: ${found}`;
};

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
