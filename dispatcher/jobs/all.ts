import { type AccountCheckJobDeps, accountCheckJob } from "./account-checks.ts";
import { type ImportJobDeps, importJob } from "./imports.ts";
import type { Job } from "./job.ts";
import { type RemovalJobDeps, removalJob } from "./removals.ts";

/** Every type of job. */
export const allJobs = (deps: RemovalJobDeps & AccountCheckJobDeps & ImportJobDeps): readonly Job[] => [
  removalJob(deps),
  accountCheckJob(deps),
  importJob(deps),
];
