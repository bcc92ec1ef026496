import type { Clock } from "#core/domain/clock.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { passes } from "#core/runtime/process/passes.ts";
import { removeForgottenFiles } from "#core/storage/files/removal.ts";
import type { FileStore } from "#core/storage/files/store.ts";

export type FileSweepDeps = {
  files: FileStore;
  /** Whether this process is the one that does it now. */
  isOurs: () => Promise<boolean>;
  clock: Clock;
  log: Log;
};

/** Removes files that nobody names any more: a pass each hour, in one process. */
export const fileSweep = ({ files, isOurs, clock, log }: FileSweepDeps): Part =>
  passes({
    name: "file sweep",
    everyMs: 3_600_000,
    failedMs: 600_000,
    pass: async (stop) => {
      if (!(await isOurs())) return;
      const removed = await removeForgottenFiles(files, clock.now(), stop);
      if (removed > 0) log.info({ files: removed }, "files.swept");
    },
    onError: (err) => log.warn({ err }, "files.not_swept"),
  });
