import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir } from "../../../dev/files/paths.ts";

/** What docs/runbooks.md says of an alert; empty where it says nothing. */
export const sectionOf = (alert: string): string => {
  const page = readFileSync(join(rootDir, "docs/runbooks.md"), "utf8");
  return page.split(/^### /m).find((section) => section.startsWith(`${alert}\n`)) ?? "";
};
