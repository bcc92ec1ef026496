import type { Job } from "./job.ts";
import { type RemovalJobDeps, removalJob } from "./removals.ts";

/** Every type of job. */
export const allJobs = (deps: RemovalJobDeps): readonly Job[] => [removalJob(deps)];
