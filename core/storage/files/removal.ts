import { dayMs } from "../../domain/durations.ts";
import { type FileStore, fileFolders, keptDays, removedAtOnce } from "./store.ts";

type Removing = Pick<FileStore, "kind" | "removeOld">;

/** Removes all files of an app, also unfinished ones. @throws Unavailable */
export const removeFilesOfApp = async (
  files: Removing,
  appId: string,
  now: Date,
  signal: AbortSignal,
): Promise<void> => {
  for (const folder of fileFolders) await removeAll(files, `${folder}/${appId}/`, now, signal);
};

/** Removes what should have gone long ago, of whatever app: what processes left that were killed. @throws Unavailable */
export const removeForgottenFiles = async (files: Removing, now: Date, signal: AbortSignal): Promise<number> => {
  let removed = 0;
  for (const folder of fileFolders) {
    const before = new Date(now.getTime() - keptDays[folder] * dayMs);
    removed += await removeAll(files, `${folder}/`, before, signal);
  }
  return removed;
};

/** Removes what begins with a prefix, however much it is. @throws Unavailable, and the signal's reason */
export const removeAll = async (
  files: Removing,
  prefix: string,
  before: Date,
  signal: AbortSignal,
): Promise<number> => {
  if (files.kind === "none") return 0;
  for (let removed = 0; ; ) {
    signal.throwIfAborted();
    const some = await files.removeOld(prefix, before, signal);
    removed += some;
    if (some < removedAtOnce) return removed;
  }
};
