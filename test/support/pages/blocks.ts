import { readFileSync } from "node:fs";
import { join } from "node:path";
import { rootDir } from "../../../dev/files/paths.ts";

/** A piece of code on a page of docs/: `info` is what stands behind the fence, `section` the heading above. */
export type Block = { section: string; info: string; text: string };

export const blocksOf = (page: string): Block[] => {
  const sections = readFileSync(join(rootDir, "docs", page), "utf8").split(/^## /m);
  return sections.flatMap((section) => {
    const [heading = ""] = section.split("\n", 1);
    return [...section.matchAll(/^```([^\n]+)\n(.*?)^```$/gms)].map(([, info = "", text = ""]) => ({
      section: heading,
      info,
      text,
    }));
  });
};
