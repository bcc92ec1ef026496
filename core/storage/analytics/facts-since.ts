import { LRUCache } from "lru-cache";
import type { Db } from "mongodb";
import { atMostEntries } from "../../domain/at-most-entries.ts";
import { quarterMs } from "../../domain/durations.ts";
import { type CollectionSpec, collectionOf, longAgo, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { oldestChange } from "./quarter-counts.ts";

/**
 * From when on all that is counted is kept with the deliveries of an app, and not only what the first counters had: repeated opens and
 * clicks, values of conversions, labels, segments, countries. Written once, and never changed: a delivery of before does
 * not have it, however often it is counted again.
 */
export type FactsSinceRow = { _id: string; tenant_id: string; app_id: string; table: "since"; since: Date };

/** Of so many the latest answers are kept in memory: some MB. */
export const mostApps = 10_000;

/** Told in the collection of the counters, which go with their app; without a day, so that it outlives them. */
export const factsSince = (db: Db, counters: CollectionSpec) => {
  const rows = collectionOf<FactsSinceRow>(db, counters);
  const find = async (of: OfApp): Promise<Date | null> =>
    (await rows.findOne({ _id: idOf(of), tenant_id: of.tenantId }))?.since ?? null;
  const known = new LRUCache<string, Date>(atMostEntries(mostApps)); // it never changes
  return {
    find: async (of: OfApp): Promise<Date | null> => {
      const since = known.get(of.appId) ?? (await find(of));
      if (since !== null) known.set(of.appId, since);
      return since;
    },

    /**
     * Notes it before the first counters of a day are kept. `quarter`: which is counted, at `at`. Of an app that nothing
     * was counted of, and that has no older deliveries, all of it is kept from the beginning.
     */
    note: async (
      of: OfApp,
      { quarter, at, isCounted }: { quarter: Date; at: Date; isCounted: () => Promise<boolean> },
    ): Promise<void> => {
      if ((await find(of)) !== null) return;
      const [isBefore, changed] = [await isCounted(), await oldestChange(db)(of)];
      const isNew = !isBefore && (changed === null || changed >= quarter);
      const next = new Date((Math.floor(at.getTime() / quarterMs) + 1) * quarterMs);
      const table = "since" as const;
      const kept = { _id: idOf(of), tenant_id: of.tenantId, app_id: of.appId, table, since: isNew ? longAgo : next };
      await insertNew(rows, kept);
    },
  };
};

const idOf = ({ appId }: OfApp): string => `${appId}/since`;
