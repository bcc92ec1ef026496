import { opendir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { removedAtOnce } from "../store.ts";

/** Removes the files below `dir` that begin with `prefix` and were written last before an instant, finished or not. */
export const removeOld = async (dir: string, prefix: string, before: Date, signal: AbortSignal): Promise<number> => {
  const start = join(dir, prefix.endsWith("/") ? prefix : dirname(prefix));
  const folders = new Set<string>();
  let removed = 0;
  for await (const path of filesBelow(start)) {
    signal.throwIfAborted();
    if (!relative(dir, path).startsWith(prefix) || !(await isOlder(path, before))) continue;
    await rm(path, { force: true });
    folders.add(dirname(path));
    if (++removed === removedAtOnce) break;
  }
  for (const folder of folders) await rmdir(folder).catch(() => undefined); // there are others in it
  return removed;
};

async function* filesBelow(start: string): AsyncGenerator<string> {
  const entries = await opendir(start, { recursive: true }).catch(noneWhenMissing);
  for await (const entry of entries) if (entry.isFile()) yield join(entry.parentPath, entry.name);
}

const noneWhenMissing = (error: unknown): never[] => {
  if (isMissing(error)) return [];
  throw error;
};

/** Another process may have removed it meanwhile. */
const isOlder = async (path: string, before: Date): Promise<boolean> => {
  try {
    return (await stat(path)).mtime < before;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
};

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";
