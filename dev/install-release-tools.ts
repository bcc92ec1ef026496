import { join } from "node:path";
import { binDir } from "./files/paths.ts";
import { reportProgress, say } from "./install/progress.ts";
import { installReleaseTools } from "./install/release-tools.ts";
import { withLock } from "./processes/lock.ts";

// `make install-release-tools`: what `make release` needs. Safe to kill and run again.
const stop = reportProgress();
try {
  await withLock(join(binDir, "install.lock"), installReleaseTools);
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
stop();
