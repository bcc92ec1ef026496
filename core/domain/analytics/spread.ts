import { dayMs, quarterMs } from "../durations.ts";
import { dayOf } from "../events/days.ts";
import { unpack } from "./columns.ts";
import { type DayTable, quartersOfDay } from "./day-table.ts";

/** Days of a range: those that lie whole in one interval, of which only the sums are needed, and those that are cut. */
export type DaysOf = { whole: Date[]; cut: Date[] };

/** The days of the intervals between bounds, which are in order and full quarters of an hour. */
export const daysOf = (bounds: readonly Date[]): DaysOf => {
  const days: DaysOf = { whole: [], cut: [] };
  const [from, to] = [bounds[0], bounds.at(-1)];
  if (from === undefined || to === undefined) return days;
  for (let ms = dayOf(from).getTime(); ms < to.getTime(); ms += dayMs)
    (wholeIn(ms, bounds) === null ? days.cut : days.whole).push(new Date(ms));
  return days;
};

/** As much of a day as is read: its sums when it lies whole in an interval, else its quarters. */
export type ReadDay = Pick<DayTable, "keys"> & { day: Date } & Partial<Pick<DayTable, "sums" | "quarters">>;

/** Intervals between bounds, and the point at which each of them counts. */
export type Axis = { bounds: readonly Date[]; points: number; pointOf: (interval: number) => number };

/** Each interval is a point. */
export const plainAxis = (bounds: readonly Date[]): Axis => ({
  bounds,
  points: Math.max(0, bounds.length - 1),
  pointOf: (interval) => interval,
});

/** Counts of metrics at points: of each metric all points, one metric after another. */
export type Spread = Float64Array;

/** Adds counters of a day. `spreadOf` says where what is counted under a key goes, undefined when it is not asked for. */
export const spread = (
  day: ReadDay,
  { axis: { bounds, points, pointOf }, metrics }: { axis: Axis; metrics: readonly string[] },
  spreadOf: (key: string) => Spread | undefined,
): void => {
  const targets = day.keys.map(spreadOf);
  const whole = wholeIn(day.day.getTime(), bounds);
  const placesOfKey = whole === null ? quartersOfDay : 1;
  const at = (whole === null ? placesOf(day.day.getTime(), bounds) : [whole]).map((n) => (n < 0 ? n : pointOf(n)));
  for (const [n, metric] of metrics.entries()) {
    const bytes = (whole === null ? day.quarters : day.sums)?.[metric];
    if (bytes === undefined) continue;
    unpack(bytes, (count, place) => {
      const point = at[place % placesOfKey] ?? -1;
      const target = targets[Math.floor(place / placesOfKey)];
      if (target === undefined || point < 0) return;
      const index = n * points + point;
      target[index] = (target[index] ?? 0) + count;
    });
  }
};

/** The interval that a day lies whole in; null when it is cut. */
const wholeIn = (dayStartMs: number, bounds: readonly Date[]): number | null => {
  const begun = lastAtOrBefore(bounds, dayStartMs);
  const end = bounds[begun + 1];
  return begun < 0 || end === undefined || end.getTime() < dayStartMs + dayMs ? null : begun;
};

/** The interval of each quarter of a day; -1: of none. */
const placesOf = (dayStartMs: number, bounds: readonly Date[]): number[] => {
  const places = Array.from({ length: quartersOfDay }, () => -1);
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
