import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir } from "../../../dev/files/paths.ts";

/** What somebody looks at first: a line for a shell, or a query for Prometheus. */
export type First = { language: "sh" | "promql"; text: string };

const page = readFileSync(join(rootDir, "docs/runbooks.md"), "utf8");
const sections = page.split(/^### /m).slice(1);

/** What the section of an alert begins with in docs/runbooks.md; null where it begins with a sentence. */
export const firstOf = (alert: string): First | null =>
  beginningOf(sections.find((section) => section.startsWith(`${alert}\n`)) ?? "");

/** What any section begins with, each once. */
export const allFirst = (): First[] => {
  const found = sections.flatMap((section) => beginningOf(section) ?? []);
  return [...new Map(found.map((first) => [first.text, first])).values()];
};

const beginningOf = (section: string): First | null => {
  const [, language, text = ""] = /^\w+\n\n```(sh|promql)\n(.+)\n```\n/.exec(section) ?? [];
  return language === "sh" || language === "promql" ? { language, text } : null;
};
