import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { binDir } from "./paths.ts";

/** Path of a program that is not part of the packages: from `HERALD_TOOLS`, what was installed here, or PATH. */
export const findTool = (name: string, env: NodeJS.ProcessEnv = process.env): string | null => {
  const folders = [env["HERALD_TOOLS"], binDir, ...(env["PATH"] ?? "").split(delimiter)];
  return folders.flatMap((folder) => (folder ? [join(folder, name)] : [])).find(isExecutable) ?? null;
};

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};
