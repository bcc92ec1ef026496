import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import type { Db } from "mongodb";
import { quarterMs } from "#core/domain/durations.ts";
import { reportedOf } from "#core/domain/messages/progress.ts";
import { type DeliveryDayRow, deliveryDayCollection } from "#core/storage/analytics/delivery-days.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { waitsForFirst } from "#core/storage/messages/first-waiting.ts";
import { until } from "../until.ts";

/** Counters of an app by the quarters of an hour in which its deliveries were made. */
export type Counters = Record<string, Record<string, number>>;

/** What a plain program counts of the deliveries that are stored. */
export const plainCounters = async (db: Db, appId: string): Promise<Counters> => {
  const all = await db.collection<DeliveryRow>(deliveryCollection.name).find({ app_id: appId }).toArray();
  const counters: Counters = {};
  for (const row of all.filter((one) => !waitsForFirst(one))) {
    const counts = (counters[quarterOf(row.created_at).toISOString()] ??= {});
    for (const key of ["targeted", ...reportedOf(row), ...endsOf(row)]) counts[key] = (counts[key] ?? 0) + 1;
  }
  return counters;
};

const endsOf = ({ status }: DeliveryRow): string[] =>
  ["failed", "errored", "expired", "suppressed"].includes(status) ? [status] : [];

/** What the service has counted. */
export const keptCounters = async (db: Db, appId: string): Promise<Counters> => {
  const days = await db.collection<DeliveryDayRow>(deliveryDayCollection.name).find({ app_id: appId }).toArray();
  const counters: Counters = {};
  for (const { day, quarters } of days)
    for (const [n, { cells }] of Object.entries(quarters)) {
      const counts: Record<string, number> = {};
      for (const [key, by] of cells.flatMap((cell) => Object.entries(cell.counts)))
        counts[key] = (counts[key] ?? 0) + by;
      if (cells.length > 0) counters[new Date(day.getTime() + Number(n) * quarterMs).toISOString()] = counts;
    }
  return counters;
};

/** Waits until the service has counted what is stored, which takes seconds. */
export const expectCountersAreExact = async (db: Db, appId: string): Promise<void> => {
  const isExact = async (): Promise<boolean> =>
    isDeepStrictEqual(await keptCounters(db, appId), await plainCounters(db, appId));
  await until(isExact, 30_000).catch(() => undefined); // then the difference is shown
  expect(await keptCounters(db, appId)).to.deep.equal(await plainCounters(db, appId));
};
