import type { Dirent } from "node:fs";
import { readdir } from "node:fs/promises";

/** All files and folders below one. Folders go with their last file, maybe while they are listed: then that is done anew. */
export const allFiles = (dir: string, tries = 5): Promise<Dirent[]> =>
  readdir(dir, { recursive: true, withFileTypes: true }).catch((error: unknown) => {
    if (tries === 1) throw error;
    return allFiles(dir, tries - 1);
  });
