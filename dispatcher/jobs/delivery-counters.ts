import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { type DeliveryCounters, deliveryCounters } from "#core/storage/analytics/delivery-counters.ts";
import { type DueQuarterRow, dueQuarterCollection, dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import { countQuarter } from "#core/storage/analytics/quarter-counts.ts";
import { apps } from "#core/storage/apps/apps.ts";
import { collectionOf, farAhead, ofRow } from "#core/storage/mongo/collection.ts";
import type { Job, JobResult } from "./job.ts";
import { job } from "./run.ts";

export type DeliveryCountersJobDeps = { db: Db; clock: Clock };

/** Makes the counters of quarters of an hour from deliveries, once some have changed: docs/decisions/0171. */
export const deliveryCountersJob = ({ db, clock }: DeliveryCountersJobDeps): Job => {
  const deps = {
    quarters: dueQuarters(db),
    count: countQuarter(db),
    counters: deliveryCounters(db),
    findApp: apps(db).find,
    clock,
  };
  return job<DueQuarterRow>({
    name: dueQuarterCollection.name,
    rows: collectionOf<DueQuarterRow>(db, dueQuarterCollection),
    isShort: true,
    everyMs: 500, // what is read in answers waits for it
    run: (row) => count(deps, row),
  });
};

type Deps = {
  quarters: Pick<ReturnType<typeof dueQuarters>, "counted" | "again" | "rest" | "drop">;
  count: ReturnType<typeof countQuarter>;
  counters: Pick<DeliveryCounters, "keep">;
  findApp: ReturnType<typeof apps>["find"];
  clock: Clock;
};

type Result = JobResult<DueQuarterRow>;

/** A document is kept so long after its quarter was counted: receipts come together, and making one costs more than changing it. */
const keptMs = 1_800_000;
/**
 * For how long a quarter that changes all the time is left alone, by how long counting it took: 50 times as long, so that one core is hardly
 * busy with it, but no more than 3 s, as people wait for their numbers; where that is not 10 times as long, these.
 */
export const recountPauseMs = (tookMs: number): number =>
  Math.max(pause.shortestMs, pause.leastTimes * tookMs, Math.min(pause.times * tookMs, pause.longestMs));

const pause = { shortestMs: 1_000, times: 50, longestMs: 3_000, leastTimes: 10 };

const count = async (deps: Deps, row: DueQuarterRow): Promise<Result> => {
  const { quarters, clock } = deps;
  const isGone = row.as_of >= farAhead || (await deps.findApp(row.app_id)) === null;
  if (isGone && (await quarters.drop(row))) return { end: null, facts: { isDropped: true } };
  const { rests_until: rests } = row; // who says that it is due says when it would be first
  if (rests !== undefined && rests > clock.now()) {
    await quarters.rest(row, rests);
    return { end: null, facts: { isResting: true } };
  }
  const [at, beganMs] = [clock.now(), performance.now()];
  const counts = await deps.count(ofRow(row), row.quarter);
  await deps.counters.keep(ofRow(row), row.quarter, { ...counts, at });
  const tookMs = performance.now() - beganMs;
  const after = (ms: number): Date => new Date(clock.now().getTime() + ms);
  const restsUntil = after(recountPauseMs(tookMs));
  const isAll = await quarters.counted(row, { restsUntil, dueAt: after(keptMs) });
  if (!isAll) await quarters.again(row, { asOf: at, restsUntil });
  return { end: null, facts: { isAll } };
};
