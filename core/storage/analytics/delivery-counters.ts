import { LRUCache } from "lru-cache";
import { Binary, type Collection, type Db } from "mongodb";
import { packed, unpack } from "../../domain/analytics/columns.ts";
import {
  type Columns,
  type DayTable,
  type Entry,
  quartersOfDay,
  type Sample,
  withQuarter,
} from "../../domain/analytics/day-table.ts";
import type { DaysOf, ReadDay } from "../../domain/analytics/spread.ts";
import { type CounterTable, counterTables, type QuarterCounts, tablesOf } from "../../domain/analytics/tables.ts";
import { atMostEntries } from "../../domain/at-most-entries.ts";
import { dayMs, quarterMs } from "../../domain/durations.ts";
import { dateText, dayOf } from "../../domain/events/days.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { factsSince, mostApps } from "./facts-since.ts";

/** A table of counters of the deliveries of an app that were made in a UTC day: see {@link DayTable}. */
export type DeliveryCounterRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  table: CounterTable | typeof timeSums;
  day: Date;
  keys: string[];
  sums: Record<string, Binary>;
  quarters: Record<string, Binary>;
  samples?: (Sample | null)[];
  /** When the deliveries of each quarter were read, packed milliseconds; 0: never. */
  read: Binary;
  /** Grows with every change. */
  revision: number;
};

/** The sums of `times` by themselves: its quarters are many times as large, and the store reads a document whole. */
const timeSums = "time_sums";

const keptDays = 800; // more than any plan keeps messages

export const deliveryCounterCollection: CollectionSpec = {
  name: "delivery_counters",
  indexes: [
    { key: { app_id: 1, table: 1, day: 1 }, name: "list" },
    { key: { day: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

const mostTries = 20; // each is lost to another quarter of the same day
const daysAtOnce = 500; // more than one answer reads

export type DeliveryCounters = ReturnType<typeof deliveryCounters>;

export const deliveryCounters = (db: Db) => {
  const rows = collectionOf<DeliveryCounterRow>(db, deliveryCounterCollection);
  const since = factsSince(db, deliveryCounterCollection);
  const known = new LRUCache<string, Date>(atMostEntries(mostApps));
  return {
    /**
     * Keeps the counters of a quarter of an hour that was read at `at`, in the place of what was read before. After a day
     * those that have more deliveries stay: counters are kept longer than deliveries.
     */
    keep: async (of: OfApp, quarter: Date, counts: QuarterCounts & { at: Date }): Promise<void> => {
      const tables = tablesOf(counts);
      const ids = counterTables.map((table) => idOf(of, quarter, table));
      const found = await rows.find({ _id: { $in: ids }, tenant_id: of.tenantId }).toArray();
      const stored = new Map(found.map((row) => [row.table, row]));
      const before = stored.get("cells");
      const isCounted = async (): Promise<boolean> => (await firstOf(rows, of, "cells")) !== null;
      if (before === undefined) await since.note(of, { quarter, at: counts.at, isCounted });
      if (before !== undefined && isPoorer(before, quarter, { entries: tables.cells, at: counts.at })) return;
      const keep = (table: CounterTable) =>
        keepTable(rows, of, { table, quarter, entries: tables[table], at: counts.at }, stored.get(table) ?? null);
      await Promise.all(counterTables.filter((table) => table !== "cells").map(keep));
      if (tables.times.length > 0 || stored.has("times")) await keepTimeSums(rows, of, quarter);
      await keep("cells"); // by which it shows that the quarter is counted
    },

    /** A table of days of an app: sums of those that are whole, quarters of those that are cut. */
    list: async (of: OfApp, { table, days, ...wanted }: Listed): Promise<ReadDay[]> => {
      const found = await Promise.all([
        find(rows, of, { ...wanted, table: table === "times" ? timeSums : table, days: days.whole, of: "sums" }),
        find(rows, of, { ...wanted, table, days: days.cut, of: "quarters" }),
      ]);
      return found.flat();
    },

    /** The first quarter of an app that is counted; null before there is one. One that is known, and not after `needed`, is not looked for again. */
    first: async (of: OfApp, needed: Date): Promise<Date | null> => {
      const before = known.get(of.appId);
      if (before !== undefined && before <= needed) return before;
      const found = await firstOf(rows, of, "cells");
      if (found !== null) known.set(of.appId, found);
      return found;
    },

    /** From when on all that is counted is kept with the deliveries of an app; null before that is known, and of one without counters. */
    factsSince: since.find,
  };
};

/** The first quarter that a table of an app has. */
const firstOf = async (
  rows: Collection<DeliveryCounterRow>,
  { tenantId, appId }: OfApp,
  table: CounterTable,
): Promise<Date | null> => {
  const filter = { app_id: appId, table, tenant_id: tenantId };
  const row = await rows.findOne(filter, { hint: "list", sort: { day: 1 }, projection: { day: 1, quarters: 1 } });
  if (row === null) return null;
  let first = quartersOfDay;
  for (const bytes of Object.values(row.quarters))
    unpack(bytesOf(bytes), (_, place) => {
      first = Math.min(first, place % quartersOfDay);
    });
  return new Date(row.day.getTime() + first * quarterMs);
};

const idOf = ({ appId }: OfApp, at: Date, table: DeliveryCounterRow["table"]): string =>
  `${appId}/${dateText(dayOf(at))}/${table}`;

/** `known`: its document as it was read, which may have changed since. */
const keepTable = async (
  rows: Collection<DeliveryCounterRow>,
  of: OfApp,
  made: MadeTable,
  known: DeliveryCounterRow | null,
): Promise<void> => {
  let row = known;
  for (let tries = 1; tries <= mostTries; tries++) {
    if (await isKept(rows, of, made, row)) return;
    row = await rows.findOne({ _id: idOf(of, made.quarter, made.table), tenant_id: of.tenantId });
  }
  throw new Error(`counters of ${of.appId} change too often to be kept`);
};

/** Keeps the sums of times as they are now, unless later ones are kept: whoever changes times does so afterwards. */
const keepTimeSums = async (rows: Collection<DeliveryCounterRow>, of: OfApp, quarter: Date): Promise<void> => {
  const made = await rows.findOne({ _id: idOf(of, quarter, "times"), tenant_id: of.tenantId });
  if (made === null) return;
  const { keys, sums, read, revision } = made;
  const _id = idOf(of, quarter, timeSums);
  const change = async (): Promise<boolean> => {
    const set = { $set: { keys, sums, read, revision } };
    return (await rows.updateOne({ _id, revision: { $lt: revision } }, set)).matchedCount === 1;
  };
  if (await change()) return;
  const isNew = await insertNew(rows, { ...made, _id, table: timeSums, quarters: {} });
  if (!isNew) await change(); // another may have made it meanwhile, of before
};

type MadeTable = { table: CounterTable; quarter: Date; entries: readonly Entry[]; at: Date };

const isKept = async (
  rows: Collection<DeliveryCounterRow>,
  of: OfApp,
  { table, quarter, entries, at }: MadeTable,
  row: DeliveryCounterRow | null,
): Promise<boolean> => {
  const [_id, day, place] = [idOf(of, quarter, table), dayOf(quarter), placeOf(quarter)];
  if (row === null && entries.length === 0) return true;
  const read = row === null ? Array.from({ length: quartersOfDay }, () => 0) : readAt(row);
  if ((read[place] ?? 0) >= at.getTime()) return true;
  read[place] = at.getTime();
  const { sums, quarters, ...plain } = withQuarter(row === null ? null : tableOf(row), place, entries);
  const set = { ...plain, sums: binaries(sums), quarters: binaries(quarters), read: new Binary(packed(read)) };
  if (row === null)
    return insertNew(rows, { _id, tenant_id: of.tenantId, app_id: of.appId, table, day, ...set, revision: 1 });
  const { matchedCount } = await rows.updateOne({ _id, revision: row.revision }, { $set: set, $inc: { revision: 1 } });
  return matchedCount === 1;
};

/** Whether a quarter has fewer deliveries than were counted before, as some are gone: a plan keeps them for a day at least. */
const isPoorer = (
  row: DeliveryCounterRow,
  quarter: Date,
  { entries, at }: Pick<MadeTable, "entries" | "at">,
): boolean => {
  if (at.getTime() - quarter.getTime() <= dayMs) return false;
  let before = 0;
  unpack(bytesOf(row.quarters["targeted"]), (count, place) => {
    if (place % quartersOfDay === placeOf(quarter)) before += count;
  });
  return before > entries.reduce((sum, { counts: { targeted = 0 } }) => sum + targeted, 0);
};

const placeOf = (quarter: Date): number => (quarter.getTime() - dayOf(quarter).getTime()) / quarterMs;

const readAt = ({ read }: DeliveryCounterRow): number[] => {
  const all = Array.from({ length: quartersOfDay }, () => 0);
  unpack(bytesOf(read), (ms, place) => {
    all[place] = ms;
  });
  return all;
};

const noBytes = new Uint8Array();
const bytesOf = (binary: Binary | undefined): Uint8Array => binary?.value() ?? noBytes;

const binaries = (columns: Columns): Record<string, Binary> =>
  Object.fromEntries(Object.entries(columns).map(([metric, bytes]) => [metric, new Binary(bytes)]));

const columnsOf = (all: Readonly<Record<string, Binary>>): Columns =>
  Object.fromEntries(Object.entries(all).map(([metric, binary]) => [metric, bytesOf(binary)]));

const tableOf = ({ keys, sums, quarters, samples }: DeliveryCounterRow): DayTable => ({
  keys,
  sums: columnsOf(sums),
  quarters: columnsOf(quarters),
  ...(samples && { samples }),
});

/** `metrics`: null, all that a table has. */
type Columned = { metrics: readonly string[] | null; isSampled?: boolean };

/** What is read of a table. */
export type Listed = Columned & { table: CounterTable; days: DaysOf };

type Wanted = Columned & {
  table: DeliveryCounterRow["table"];
  days: readonly Date[];
  of: "sums" | "quarters";
};

/** Documents of days, and of some between them where that reads less than naming each. */
const find = async (
  rows: Collection<DeliveryCounterRow>,
  { tenantId, appId }: OfApp,
  { table, days, metrics, of, isSampled = false }: Wanted,
): Promise<ReadDay[]> => {
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  const isDense = days.length > (last.getTime() - first.getTime()) / dayMs / 2;
  const day = isDense ? { $gte: first, $lte: last } : { $in: [...days] };
  const filter = { app_id: appId, table, day, tenant_id: tenantId };
  const columns = metrics === null ? [of] : metrics.map((metric) => `${of}.${metric}`);
  const members = ["day", "keys", ...columns, ...(isSampled ? ["samples"] : [])];
  const projection = Object.fromEntries(members.map((name) => [name, 1]));
  const asked = new Set(days.map((at) => at.getTime()));
  const options = { hint: "list", projection, batchSize: daysAtOnce, promoteBuffers: true }; // bytes as they are, in no object of their own
  const found = await rows.find<ReadDay>(filter, options).toArray();
  return found.filter((row) => asked.has(row.day.getTime()));
};
