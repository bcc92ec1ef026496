import { type AccountCheckJobDeps, accountCheckJob } from "./account-checks.ts";
import { type ExportJobDeps, exportJob } from "./exports.ts";
import { type ImportJobDeps, importJob } from "./imports.ts";
import type { Job } from "./job.ts";
import { type RemovalJobDeps, removalJob } from "./removals.ts";

/** Every type of job. */
export const allJobs = (deps: RemovalJobDeps & AccountCheckJobDeps & ExportJobDeps & ImportJobDeps): readonly Job[] => [
  removalJob(deps),
  accountCheckJob(deps),
  exportJob(deps),
  importJob(deps),
];
