import { randomUUID } from "node:crypto";
import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { timings } from "#core/domain/timing.ts";
import { createMetrics } from "#core/runtime/metrics/registry.ts";
import { createLog } from "#core/runtime/process/log.ts";
import { type DueQuarterRow, dueQuarterCollection } from "#core/storage/analytics/due-quarters.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { deliveryCountersJob } from "../../../dispatcher/jobs/delivery-counters.ts";

/** Counts all quarters of an app that are due by a clock, as a dispatcher does. */
export const countDueQuarters = async (db: Db, clock: Clock, appId: string): Promise<void> => {
  const stopping = new AbortController().signal;
  const log = createLog({ program: "test", level: "silent" });
  const deps = { holder: randomUUID(), stopping, clock, log, metrics: createMetrics("dispatcher") };
  const rows = collectionOf<DueQuarterRow>(db, dueQuarterCollection);
  for (const { _id, due_at: at } of await rows.find({ app_id: appId }).toArray())
    if (at !== null && at <= clock.now())
      await deliveryCountersJob({ db, clock }).run(_id, { ...deps, timing: timings.short }, stopping);
};
