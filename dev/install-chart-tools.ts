import { join } from "node:path";
import { binDir } from "./files/paths.ts";
import { installChartTools } from "./install/chart-tools.ts";
import { reportProgress, say } from "./install/progress.ts";
import { withLock } from "./processes/lock.ts";

// `make install-chart-tools`: what `make chart` needs beside the servers. Safe to kill and run again.
const stop = reportProgress();
try {
  await withLock(join(binDir, "install.lock"), installChartTools);
} catch (error) {
  say((error as Error).message);
  process.exitCode = 1;
}
stop();
