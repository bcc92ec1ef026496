import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { activityChannelJob } from "../../../dispatcher/jobs/activity-channels.ts";
import { liveActivityJob } from "../../../dispatcher/jobs/live-activities.ts";
import { suspensionsOf } from "../rows/work.ts";
import { testTiming } from "../suite/soak.ts";

/** What a dispatcher does with activities and broadcast channels that are due, in this process; Apple is not asked. */
export const activityJobs = (db: Db, clock: Clock) => {
  const { signal: stopping } = new AbortController();
  const log = createLog({ program: "dispatcher", level: "fatal" });
  const common = { db, clock, log, stopping };
  const openAccount = (): never => {
    throw new Error("Apple is not asked");
  };
  const sendHeld = () => Promise.reject(new Error("nothing is held"));
  const jobs = {
    live_activities: liveActivityJob({
      ...common,
      directory: { app: async () => null },
      suspensions: suspensionsOf(),
      sendHeld,
    }),
    live_activity_channels: activityChannelJob({ ...common, openAccount }),
  };
  const deps = { ...common, holder: randomUUID(), timing: testTiming, metrics: createMetrics("dispatcher") };
  return {
    /** Runs what is due of an app. */
    runDue: async (appId: string): Promise<void> => {
      for (const [name, job] of Object.entries(jobs)) {
        const due = { app_id: appId, due_at: { $lte: clock.now() } };
        const found = await db.collection<{ _id: string }>(name).find(due).toArray();
        for (const { _id } of found) await job.run(_id, deps, stopping);
      }
    },
  };
};
