import type { Collection, Db, Filter } from "mongodb";
import { dayMs, hourMs } from "../../domain/durations.ts";
import type { Attribution } from "../../domain/events/attribution.ts";
import { dayOf } from "../../domain/events/days.ts";
import { conversionDayCollection } from "../events/conversion-days.ts";
import { eventDayCollection, type HoursRow } from "../events/event-days.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";

/** What was counted of a name in a range. */
export type EventSum = { count: number; sum: number };

export type EventSums = ReturnType<typeof eventSums>;

/** Which of what is counted: all events, or the conversions of one attribution. */
export type Counted = "total" | Attribution["kind"];

/**
 * Events or conversions of names in a range of full hours, from the roll-ups of their days: whole days are added up by the store, of the
 * first and the last day its hours are. Some names at a time are asked for side by side: all in one query take twice as long.
 */
export const eventSums = (db: Db) => {
  const events = collectionOf<HoursRow>(db, eventDayCollection);
  const conversions = collectionOf<HoursRow>(db, conversionDayCollection);
  return {
    ofNames: async (
      { tenantId, appId }: OfApp,
      { names, counted }: { names: readonly string[]; counted: Counted },
      range: HourRange,
    ): Promise<ReadonlyMap<string, EventSum>> => {
      const rows = counted === "total" ? events : conversions;
      const parts = await Promise.all(
        pagesOf(names).flatMap((some) => {
          const ofNames = { app_id: appId, name: { $in: some }, tenant_id: tenantId };
          const filter = counted === "total" ? ofNames : { ...ofNames, attribution: counted };
          return [wholeDays(rows, filter, range), edgeDays(rows, filter, range)];
        }),
      );
      const sums = new Map<string, EventSum>(names.map((name) => [name, { count: 0, sum: 0 }]));
      for (const { name, count, sum } of parts.flat()) {
        const before = sums.get(name) ?? { count: 0, sum: 0 };
        sums.set(name, { count: before.count + count, sum: before.sum + sum });
      }
      return sums;
    },
  };
};

const namesAtOnce = 5; // each query takes a connection, of which opening one takes longer than to read five names

const pagesOf = (names: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(names.length / namesAtOnce) }, (_, n) =>
    names.slice(n * namesAtOnce, (n + 1) * namesAtOnce),
  );

/** Half-open; both ends are full hours. */
export type HourRange = { from: Date; to: Date };

type NamedSum = EventSum & { name: string };

const wholeDays = async (
  rows: Collection<HoursRow>,
  ofNames: Filter<HoursRow>,
  range: HourRange,
): Promise<NamedSum[]> => {
  const { first, end } = wholeOf(range);
  if (first >= end) return [];
  const filter = { ...ofNames, day: { $gte: first, $lt: end } };
  const group = { _id: "$name", count: { $sum: "$count" }, sum: { $sum: { $sum: "$sums" } } };
  const found = await rows
    .aggregate<EventSum & { _id: string }>([{ $match: filter }, { $group: group }], { hint: "list" })
    .toArray();
  return found.map(({ _id, count, sum }) => ({ name: _id, count, sum }));
};

/** The days that are whole in a range. */
const wholeOf = ({ from, to }: HourRange): { first: Date; end: Date } => ({
  first: new Date(Math.ceil(from.getTime() / dayMs) * dayMs),
  end: dayOf(to),
});

const edgeDays = async (
  rows: Collection<HoursRow>,
  ofNames: Filter<HoursRow>,
  range: HourRange,
): Promise<NamedSum[]> => {
  const { first, end } = wholeOf(range);
  const touched = [dayOf(range.from), dayOf(new Date(range.to.getTime() - 1))];
  const days = touched.filter((day) => day < first || day >= end);
  if (days.length === 0 || range.from >= range.to) return [];
  const filter = { ...ofNames, day: { $in: days } };
  const found = await rows.find(filter, { hint: "list", projection: { name: 1, day: 1, hours: 1, sums: 1 } }).toArray();
  return found.map((row) => inRange(row, range));
};

const inRange = ({ name, day, hours, sums }: HoursRow, { from, to }: HourRange): NamedSum => {
  const start = (from.getTime() - day.getTime()) / hourMs;
  const end = (to.getTime() - day.getTime()) / hourMs;
  const added = (of: readonly number[]): number =>
    of.slice(Math.max(0, start), Math.max(0, end)).reduce((sum, one) => sum + one, 0);
  return { name, count: added(hours), sum: added(sums) };
};
