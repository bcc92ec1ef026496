import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import type { Db } from "mongodb";
import { unpack } from "#core/domain/analytics/columns.ts";
import { quartersOfDay, type Sample } from "#core/domain/analytics/day-table.ts";
import type { CounterTable, QuarterCounts } from "#core/domain/analytics/tables.ts";
import { quarterMs } from "#core/domain/durations.ts";
import { reportedOf } from "#core/domain/messages/progress.ts";
import { type DeliveryCounterRow, deliveryCounterCollection } from "#core/storage/analytics/delivery-counters.ts";
import { quarterOf } from "#core/storage/analytics/due-quarters.ts";
import { type ConversionRow, conversionCollection } from "#core/storage/events/conversions.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import { waitsForFirst } from "#core/storage/messages/first-waiting.ts";
import { until } from "../until.ts";

/** What is counted of a quarter without deliveries. */
export const noCounts: QuarterCounts = {
  cells: [],
  labels: [],
  segments: [],
  statuses: [],
  failures: [],
  suppressed: [],
  domains: [],
  countries: [],
  messages: [],
  times: [],
};

/** Counters of an app by the quarters of an hour in which its deliveries were made. */
export type Counters = Record<string, Record<string, number>>;

/** What a plain program counts of the deliveries that are stored. */
export const plainCounters = async (db: Db, appId: string): Promise<Counters> => {
  const all = await db.collection<DeliveryRow>(deliveryCollection.name).find({ app_id: appId }).toArray();
  const values = await plainValues(db, appId);
  const counters: Counters = {};
  for (const row of all.filter((one) => !waitsForFirst(one))) {
    const counts = (counters[quarterOf(row.created_at).toISOString()] ??= {});
    const each = ["targeted", ...reportedOf(row), ...endsOf(row), ...ofMachines(row)].map((key) => [key, 1] as const);
    for (const [key, count] of [...each, ...totalsOf(row, values.get(row._id) ?? 0)])
      counts[key] = (counts[key] ?? 0) + count;
  }
  return counters;
};

/** What stored conversions of each delivery come to, in millionths. */
const plainValues = async (db: Db, appId: string): Promise<ReadonlyMap<string, number>> => {
  const all = await db.collection<ConversionRow>(conversionCollection.name).find({ app_id: appId }).toArray();
  const values = new Map<string, number>();
  for (const { delivery_id: id, value } of all)
    if (id !== null) values.set(id, (values.get(id) ?? 0) + Math.round(value * 1e6));
  return values;
};

const endsOf = ({ status }: DeliveryRow): string[] =>
  ["failed", "errored", "expired", "suppressed"].includes(status) ? [status] : [];

const ofMachines = ({ machine_opened_at: opened, machine_clicked_at: clicked }: DeliveryRow): string[] => [
  ...(opened === undefined ? [] : ["machine_opens"]),
  ...(clicked === undefined ? [] : ["machine_clicks"]),
];

/** Opens and clicks, each time; a click is an open. */
const totalsOf = (row: DeliveryRow, value: number): [string, number][] => {
  const { open_count: opens = 1, click_count: clicks = 1 } = row;
  const reported = reportedOf(row);
  return [
    ...(value === 0 ? [] : [["conversion_value", value] satisfies [string, number]]),
    ...(reported.includes("opened") ? [["opens_total", Math.max(1, opens)] satisfies [string, number]] : []),
    ...(reported.includes("clicked") ? [["clicks_total", clicks] satisfies [string, number]] : []),
  ];
};

/** What the service has counted. */
export const keptCounters = async (db: Db, appId: string): Promise<Counters> => {
  const counters: Counters = {};
  for (const { day, quarters } of await rowsOf(db, appId, "cells"))
    for (const [metric, bytes] of Object.entries(quarters))
      unpack(bytes.value(), (count, place) => {
        const at = new Date(day.getTime() + (place % quartersOfDay) * quarterMs).toISOString();
        const counts = (counters[at] ??= {});
        counts[metric] = (counts[metric] ?? 0) + count;
      });
  return counters;
};

/** What is kept of the first day of an app that is counted, in a table: under each key its sums, and its sample. */
export const firstDay = async (db: Db, appId: string, table: CounterTable): Promise<KeptSums[]> => {
  const [row] = await rowsOf(db, appId, table);
  if (row === undefined) return [];
  const all = row.keys.map((key, n): KeptSums => {
    const sample = row.samples?.[n] ?? null;
    return { of: JSON.parse(key) as unknown, counts: {}, ...(sample && { sample }) };
  });
  for (const [metric, bytes] of Object.entries(row.sums))
    unpack(bytes.value(), (count, place) => {
      const kept = all[place];
      if (kept !== undefined) kept.counts[metric] = count;
    });
  return all;
};

type KeptSums = { of: unknown; counts: Record<string, number>; sample?: Sample };

const rowsOf = (db: Db, appId: string, table: CounterTable): Promise<DeliveryCounterRow[]> =>
  db
    .collection<DeliveryCounterRow>(deliveryCounterCollection.name)
    .find({ app_id: appId, table })
    .sort({ day: 1 })
    .toArray();

/** Waits until the service has counted what is stored, which takes seconds. */
export const expectCountersAreExact = async (
  db: Db,
  appId: string,
  { withinMs = 30_000, paceMs }: { withinMs?: number; paceMs?: number } = {},
): Promise<void> => {
  const isExact = async (): Promise<boolean> =>
    isDeepStrictEqual(await keptCounters(db, appId), await plainCounters(db, appId));
  await until(isExact, withinMs, paceMs).catch(() => undefined); // then the difference is shown
  expect(await keptCounters(db, appId)).to.deep.equal(await plainCounters(db, appId));
};
