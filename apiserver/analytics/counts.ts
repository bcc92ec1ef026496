import { type Axis, plainAxis, type ReadDay, type Spread, spread } from "#core/domain/analytics/spread.ts";
import { type CellKey, type CounterTable, cellOfKey } from "#core/domain/analytics/tables.ts";
import { invalid } from "#core/errors.ts";
import type { DeliveryCounters } from "#core/storage/analytics/delivery-counters.ts";
import type { dueQuarters } from "#core/storage/analytics/due-quarters.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { oldestChange } from "#core/storage/analytics/quarter-counts.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { longAgo, ofApp } from "#core/storage/mongo/collection.ts";
import type { Question } from "./answers.ts";

export type CountsDeps = {
  counters: Pick<DeliveryCounters, "list" | "first" | "factsSince">;
  due: Pick<ReturnType<typeof dueQuarters>, "countedUntil">;
  oldestChange: ReturnType<typeof oldestChange>;
};

/** What is read: the metrics of a table at the points of an axis, told apart by `groupOf`; what is null there is not counted. */
export type Reading = {
  table: CounterTable;
  axis: Axis;
  metrics: readonly string[];
  groupOf: (key: string) => string | null;
  /** Called with each day that was read, with its samples. */
  onDay?: (day: ReadDay) => void;
};

/** Reads counters; of each group what {@link Spread} says. */
export const readCounts = async (
  { counters }: Pick<CountsDeps, "counters">,
  app: AppRow,
  { table, axis, metrics, groupOf, onDay }: Reading,
): Promise<Map<string, Spread>> => {
  const groups = new Map<string, Spread>();
  const size = metrics.length * axis.points;
  const byKey = new Map<string, Spread | undefined>();
  const spreadOf = (key: string): Spread | undefined => {
    if (byKey.has(key)) return byKey.get(key);
    const name = groupOf(key);
    const group = name === null ? undefined : (groups.get(name) ?? new Float64Array(size));
    if (name !== null && group !== undefined) groups.set(name, group);
    byKey.set(key, group);
    return group;
  };
  const isSampled = onDay !== undefined;
  for (const day of await counters.list(ofApp(app), { table, days: axis.days, metrics, isSampled })) {
    spread(day, { axis, metrics }, spreadOf);
    onDay?.(day);
  }
  return groups;
};

/** A range as one point. */
export const rangeAxis = ({ from, to }: HourRange): Axis => plainAxis(from < to ? [from, to] : []);

/** All of an axis as one point. */
export const wholeOf = ({ range }: Axis): Axis => plainAxis(range === null ? [] : [range.from, range.to]);

/** `needsAllFacts`: whether it is about what only deliveries have that were made since all of that is kept. */
type Needs = { needsAllFacts: boolean };

/** Members of every answer about deliveries. */
export const rangeMembers = async (
  { counters, due, oldestChange: oldest }: CountsDeps,
  app: AppRow,
  { asked: { range, timezone, clamped, completeFrom }, now }: Pick<Question<unknown>, "asked" | "now">,
  { needsAllFacts }: Needs,
) => {
  const of = ofApp(app);
  const [until, counted, since] = await Promise.all([
    due.countedUntil(of, range),
    counters.first(of, completeFrom),
    needsAllFacts ? counters.factsSince(of) : longAgo,
  ]);
  const begun = counted ?? now;
  const changed = begun <= completeFrom ? null : await oldest(of);
  const isAllCounted = changed === null || changed >= begun; // what has changed since then was counted
  const kept = since ?? (counted === null ? longAgo : now); // a former release has counted, and since the new one no day has begun
  return {
    ...range,
    timezone,
    clamped,
    as_of: until ?? now,
    complete_from: later(isAllCounted ? completeFrom : later(begun, completeFrom), kept),
  };
};

/** Metrics that the first counters did not have. */
const newer: readonly string[] = ["conversion_value", "opens_total", "clicks_total", "machine_clicks"];

/** Whether all facts are needed to count some metrics of a table's cells. */
export const needsAllFacts = (table: CounterTable, metrics: readonly string[]): Needs => ({
  needsAllFacts: table !== "cells" || metrics.some((name) => newer.includes(name)),
});

const later = (a: Date, b: Date): Date => (a > b ? a : b);

export const shownRange = ({ from, to }: HourRange) => ({ from: from.toISOString(), to: to.toISOString() });

export type CellFilter = {
  channel?: readonly CellKey["channel"][];
  source?: readonly CellKey["source"][];
  category?: string;
  campaign_id?: string;
  template_id?: string;
  label?: string;
  segment_id?: string;
};

/** The table whose cells are read, and what deliveries of a key are told apart by; null when they are not asked for. */
export type AskedCells = { table: CounterTable; of: (key: string) => (CellKey & { name: string | null }) | null };

/**
 * What is read for a query.
 * @throws ValidationError when it asks for two of labels, segments and statuses: deliveries are counted by one of them at a time
 */
export const askedCells = (filter: CellFilter, grouping?: string): AskedCells => {
  const asked = (["label", "segment_id", "status"] as const).filter(
    (name) => grouping === name || (name !== "status" && filter[name] !== undefined),
  );
  const [one, another] = asked;
  if (one !== undefined && another !== undefined)
    throw invalid(
      filter[another as "label"] === undefined ? "group_by" : another,
      `cannot be asked together with ${one}`,
    );
  const table = one === undefined ? "cells" : tables[one];
  const name = one === undefined || one === "status" ? undefined : filter[one];
  return { table, of: (key) => fitting(filter, name, cellOfKey(key)) };
};

const tables = { label: "labels", segment_id: "segments", status: "statuses" } as const;

const fitting = <Of extends CellKey & { name: string | null }>(
  { channel, source, category, campaign_id, template_id }: CellFilter,
  name: string | undefined,
  cell: Of,
): Of | null => {
  const isAsked =
    (channel?.includes(cell.channel) ?? true) &&
    (source?.includes(cell.source) ?? true) &&
    (category === undefined || category === cell.category) &&
    (campaign_id === undefined || campaign_id === cell.campaign_id) &&
    (template_id === undefined || template_id === cell.template_id) &&
    (name === undefined || name === cell.name);
  return isAsked ? cell : null;
};
