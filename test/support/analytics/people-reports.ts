import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { type PeopleReportRow, peopleReportCollection } from "#core/storage/analytics/people-reports.ts";
import { peopleReportJob } from "../../../dispatcher/jobs/people-reports.ts";

/** Has counted what an app has asked of people, as a dispatcher does. */
export const countReports = async (db: Db, appId: string): Promise<void> => {
  const clock = { now: () => new Date() };
  const stopping = new AbortController().signal;
  const log = createLog({ program: "test", level: "silent" });
  const deps = { holder: randomUUID(), stopping, clock, log, metrics: createMetrics("dispatcher") };
  const job = peopleReportJob({ db, clock });
  const rows = db.collection<PeopleReportRow>(peopleReportCollection.name);
  for (const { _id } of await rows.find({ app_id: appId, due_at: { $ne: null } }).toArray())
    await job.run(_id, { ...deps, timing: timings.short }, stopping);
};
