import { dayMs, quarterMs } from "../durations.ts";
import { dayOf } from "../events/days.ts";
import type { QuarterCounts } from "./quarters.ts";

/** A stretch of a day, from one of its quarters of an hour up to another, and the interval that it is part of; -1: of none. */
type Stretch = { first: number; end: number; interval: number };

const quartersOfDay = dayMs / quarterMs;

/** As much of a day as is needed. */
export type SpreadDay = { day: Date; total: QuarterCounts; quarters?: Record<string, QuarterCounts> };

/** Called with what an interval gains, or loses when `by` is -1. */
export type Add = (interval: number, counts: QuarterCounts, by: 1 | -1) => void;

/**
 * The quarters of their days that have to be read to know what intervals hold: the longest stretch of a day is what its total
 * holds beyond the others.
 */
export const quartersFor = (bounds: readonly Date[]): Set<number> => {
  const needed = new Set<number>();
  const [from, to] = [bounds[0], bounds.at(-1)];
  if (from === undefined || to === undefined) return needed;
  for (let ms = dayOf(from).getTime(); ms < to.getTime(); ms += dayMs)
    for (const { first, end } of restOf(stretchesOf(ms, bounds)).others)
      for (let n = first; n < end; n++) needed.add(n);
  return needed;
};

/** Spreads the counters of days over the intervals between bounds, which are in order and full quarters of an hour. */
export const spread = (days: readonly SpreadDay[], bounds: readonly Date[], add: Add): void => {
  for (const { day, total, quarters = {} } of days) {
    const { longest, others } = restOf(stretchesOf(day.getTime(), bounds));
    const addIn = (interval: number, counts: QuarterCounts, by: 1 | -1): void => {
      if (interval >= 0) add(interval, counts, by);
    };
    addIn(longest.interval, total, 1);
    for (const { first, end, interval } of others)
      for (const counts of quartersIn(quarters, first, end)) {
        addIn(longest.interval, counts, -1);
        addIn(interval, counts, 1);
      }
  }
};

const quartersIn = (all: Readonly<Record<string, QuarterCounts>>, first: number, end: number): QuarterCounts[] =>
  Array.from({ length: end - first }, (_, n) => all[first + n] ?? []).flat();

const stretchesOf = (dayStartMs: number, bounds: readonly Date[]): [Stretch, ...Stretch[]] => {
  const begun = lastAtOrBefore(bounds, dayStartMs);
  const isOver = begun === bounds.length - 1;
  const stretches: [Stretch, ...Stretch[]] = [{ first: 0, end: quartersOfDay, interval: isOver ? -1 : begun }];
  for (let n = begun + 1; n < bounds.length; n++) {
    const at = ((bounds[n]?.getTime() ?? 0) - dayStartMs) / quarterMs;
    if (at >= quartersOfDay) break;
    const before = stretches.at(-1);
    if (before !== undefined) before.end = at;
    stretches.push({ first: at, end: quartersOfDay, interval: n === bounds.length - 1 ? -1 : n });
  }
  return stretches;
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

const restOf = (all: readonly [Stretch, ...Stretch[]]): { longest: Stretch; others: Stretch[] } => {
  const lengthOf = ({ first, end }: Stretch): number => end - first;
  const longest = all.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  return { longest, others: all.filter((one) => one !== longest) };
};
