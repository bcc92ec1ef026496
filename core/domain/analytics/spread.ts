import { dayMs, quarterMs } from "../durations.ts";
import { dayOf } from "../events/days.ts";
import { addPacked, runsOf } from "./columns.ts";
import { type DayTable, quartersOfDay } from "./day-table.ts";
import { hoursOfQuarters, hoursOfWeek } from "./intervals.ts";

/** Days of a range: those that lie whole in one interval, of which only the sums are needed, and those that are cut. */
export type DaysOf = { whole: Date[]; cut: Date[] };

/** The days of the intervals between bounds. */
const daysOf = (bounds: readonly Date[]): DaysOf => {
  const days: DaysOf = { whole: [], cut: [] };
  const [from, to] = [bounds[0], bounds.at(-1)];
  if (from === undefined || to === undefined) return days;
  for (const day of daysFrom(from, to)) (wholeIn(day.getTime(), bounds) === null ? days.cut : days.whole).push(day);
  return days;
};

/** As much of a day as is read: its sums when it lies whole in an interval, else its quarters. */
export type ReadDay = Pick<DayTable, "keys"> & { day: Date } & Partial<Pick<DayTable, "sums" | "quarters" | "samples">>;

/** Where what was counted goes: to points of a range. */
export type Axis = {
  /** Null: of nothing. */
  range: { from: Date; to: Date } | null;
  points: number;
  days: DaysOf;
  /** The point of a day of {@link DaysOf.whole}; null of another. */
  wholeAt: (dayStartMs: number) => number | null;
  /** The point of each quarter of a day; -1: none. */
  quartersAt: (dayStartMs: number) => Int32Array;
};

/** Each interval between bounds, which are in order and full quarters of an hour, is a point. */
export const plainAxis = (bounds: readonly Date[]): Axis => ({
  range: rangeOf(bounds[0], bounds.at(-1)),
  points: Math.max(0, bounds.length - 1),
  days: daysOf(bounds),
  wholeAt: (dayStartMs) => wholeIn(dayStartMs, bounds),
  quartersAt: (dayStartMs) => placesOf(dayStartMs, bounds),
});

const rangeOf = (from: Date | undefined, to: Date | undefined): Axis["range"] =>
  from === undefined || to === undefined || from >= to ? null : { from, to };

/** Each of the 168 hours of a week is a point, as the clocks of a zone show them. */
export const weekAxis = ({ from, to }: { from: Date; to: Date }, zone: string): Axis => ({
  range: rangeOf(from, to),
  points: hoursOfWeek,
  days: { whole: [], cut: daysFrom(from, to) },
  wholeAt: () => null,
  quartersAt: (dayStartMs) => {
    const hours = hoursOfQuarters(dayStartMs, zone);
    for (let n = 0; n < quartersOfDay; n++) {
      const ms = dayStartMs + n * quarterMs;
      if (ms < from.getTime() || ms >= to.getTime()) hours[n] = -1;
    }
    return hours;
  },
});

const daysFrom = (from: Date, to: Date): Date[] => {
  const days: Date[] = [];
  for (let ms = dayOf(from).getTime(); ms < to.getTime(); ms += dayMs) days.push(new Date(ms));
  return days;
};

/** Counts of metrics at points: of each metric all points, one metric after another. */
export type Spread = Float64Array;

/** Adds counters of a day. `spreadOf` says where what is counted under a key goes, undefined when it is not asked for. */
export const spread = (
  day: ReadDay,
  { axis, metrics }: { axis: Axis; metrics: readonly string[] },
  spreadOf: (key: string) => Spread | undefined,
): void => {
  const targets = day.keys.map(spreadOf);
  const whole = axis.wholeAt(day.day.getTime());
  const runs = runsOf(whole === null ? axis.quartersAt(day.day.getTime()) : Int32Array.of(whole));
  for (const [n, metric] of metrics.entries()) {
    const bytes = (whole === null ? day.quarters : day.sums)?.[metric];
    if (bytes !== undefined) addPacked(bytes, { targets, runs, from: n * axis.points });
  }
};

/** The interval that a day lies whole in; null when it is cut. */
const wholeIn = (dayStartMs: number, bounds: readonly Date[]): number | null => {
  const begun = lastAtOrBefore(bounds, dayStartMs);
  const end = bounds[begun + 1];
  return begun < 0 || end === undefined || end.getTime() < dayStartMs + dayMs ? null : begun;
};

/** The interval of each quarter of a day; -1: of none. */
const placesOf = (dayStartMs: number, bounds: readonly Date[]): Int32Array => {
  const places = new Int32Array(quartersOfDay).fill(-1);
  let next = lastAtOrBefore(bounds, dayStartMs) + 1;
  for (let n = 0; n < quartersOfDay; n++) {
    while (next < bounds.length && (bounds[next]?.getTime() ?? 0) <= dayStartMs + n * quarterMs) next += 1;
    if (next < bounds.length) places[n] = next - 1;
  }
  return places;
};

/** -1 when all of them come after. */
const lastAtOrBefore = (bounds: readonly Date[], ms: number): number => {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle]?.getTime() ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};
