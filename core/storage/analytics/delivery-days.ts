import type { Collection, Db } from "mongodb";
import { type QuarterCounts, sumOfQuarters } from "../../domain/analytics/quarters.ts";
import { dayMs, quarterMs } from "../../domain/durations.ts";
import { dateText, dayOf } from "../../domain/events/days.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";

/** Counters of the deliveries of an app that were made in a UTC day, by its quarters of an hour. */
export type DeliveryDayRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  day: Date;
  /** Of all quarters. */
  total: QuarterCounts;
  /** By their number, 0 to 95; those without a delivery are left out. */
  quarters: Record<string, KeptQuarter>;
  /** Grows with every change. */
  revision: number;
};

/** `at`: when its deliveries were read. */
type KeptQuarter = QuarterCounts & { at: Date };

const keptDays = 800; // more than any plan keeps messages

export const deliveryDayCollection: CollectionSpec = {
  name: "delivery_days",
  indexes: [
    { key: { app_id: 1, day: 1 }, name: "list" },
    { key: { day: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

const mostTries = 20; // each is lost to another quarter of the same day

export const deliveryDays = (db: Db) => {
  const rows = collectionOf<DeliveryDayRow>(db, deliveryDayCollection);
  return {
    /**
     * Keeps the counters of a quarter of an hour that was read at `at`, in the place of what was read before. After a day
     * those that have more deliveries stay: counters are kept longer than deliveries.
     */
    keep: async (of: OfApp, quarter: Date, counts: KeptQuarter): Promise<void> => {
      for (let tries = 1; tries <= mostTries; tries++) if (await isKept(rows, of, quarter, counts)) return;
      throw new Error(`counters of ${of.appId} change too often to be kept`);
    },

    /** Days of an app, oldest first: their totals, and those of their quarters that are named; all of them when none are. */
    list: (
      { tenantId, appId }: OfApp,
      { from, to }: { from: Date; to: Date },
      quarters: ReadonlySet<number> | "all",
    ): Promise<DayCounts[]> => {
      const filter = { app_id: appId, day: { $gte: dayOf(from), $lt: to }, tenant_id: tenantId };
      const named = quarters === "all" ? ["quarters"] : [...quarters].map((n) => `quarters.${n}`);
      const projection = Object.fromEntries(["day", "total", ...named].map((name) => [name, 1]));
      return rows.find<DayCounts>(filter, { hint: "list", projection, batchSize: mostDays }).sort({ day: 1 }).toArray();
    },

    /** The first quarter of an app that is counted; null before there is one. */
    first: async ({ tenantId, appId }: OfApp): Promise<Date | null> => {
      const row = await rows.findOne({ app_id: appId, tenant_id: tenantId }, { hint: "list", sort: { day: 1 } });
      if (row === null) return null;
      return new Date(row.day.getTime() + Math.min(...Object.keys(row.quarters).map(Number)) * quarterMs);
    },
  };
};

const mostDays = 1_000; // more than one answer reads

/** As much of a day as was asked for. */
export type DayCounts = Pick<DeliveryDayRow, "day" | "total"> & { quarters?: Record<string, QuarterCounts> };

const isKept = async (
  rows: Collection<DeliveryDayRow>,
  { tenantId, appId }: OfApp,
  quarter: Date,
  counts: KeptQuarter,
): Promise<boolean> => {
  const day = dayOf(quarter);
  const [_id, name] = [`${appId}/${dateText(day)}`, String((quarter.getTime() - day.getTime()) / quarterMs)];
  const row = await rows.findOne({ _id, tenant_id: tenantId });
  const before = row?.quarters[name];
  if ((before !== undefined && stands(before, counts, quarter)) || (before === undefined && counts.cells.length === 0))
    return true;
  const quarters = { ...row?.quarters, [name]: counts };
  const total = sumOfQuarters(Object.values(quarters));
  if (row === null)
    return insertNew(rows, { _id, tenant_id: tenantId, app_id: appId, day, total, quarters, revision: 1 });
  const { matchedCount } = await rows.updateOne(
    { _id, revision: row.revision },
    { $set: { [`quarters.${name}`]: counts, total }, $inc: { revision: 1 } },
  );
  return matchedCount === 1;
};

/** Whether what was read before is kept. The shortest time that a plan keeps deliveries for is a day. */
const stands = (before: KeptQuarter, counts: KeptQuarter, quarter: Date): boolean => {
  const mayBeGone = counts.at.getTime() - quarter.getTime() > dayMs;
  return before.at >= counts.at || (mayBeGone && targetedIn(before) > targetedIn(counts));
};

const targetedIn = ({ cells }: QuarterCounts): number =>
  cells.reduce((sum, { counts: { targeted = 0 } }) => sum + targeted, 0);
