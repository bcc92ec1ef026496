import { dayMs, hourMs, quarterMs } from "../durations.ts";
import { instantAt, offsetAt, type ZoneSpan, zoneSpans } from "../zone-spans.ts";

/** What a range is divided into, by the clocks of a zone; weeks begin on Mondays. */
export const calendarUnits = ["hour", "day", "week", "month"] as const;
export type CalendarUnit = (typeof calendarUnits)[number];

/**
 * The beginnings of the units of a range, and its end: the first and the last unit are cut by the range. Null when there
 * are more than `most`. An hour that clocks show twice is two hours; a day that they leave out is none.
 */
export const boundsOf = (
  { from, to }: { from: Date; to: Date },
  unit: CalendarUnit,
  { zone, most }: { zone: string; most: number },
): Date[] | null => {
  const bounds = [from];
  for (let at = nextOf(from, unit, zone); at < to; at = nextOf(at, unit, zone)) {
    if (bounds.length === most) return null;
    bounds.push(at);
  }
  return [...bounds, to];
};

/** The interval between bounds that an instant is in; -1 before all, the place of the last bound from that on. */
export const intervalOf = (bounds: readonly Date[], at: Date): number => {
  let [low, high] = [0, bounds.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((bounds[middle] ?? at) <= at) low = middle + 1;
    else high = middle;
  }
  return low - 1;
};

/** What clocks show at an instant, as if it were UTC, in milliseconds. */
export const wallOf = (at: Date, zone: string): number => at.getTime() + offsetAt(spansOf(zone, at), at.getTime());

/** The instant at which clocks show a time; a day that is left out whole begins where the one after it does. */
export const instantOn = (wallMs: number, zone: string): Date => {
  const spans = spansOf(zone, new Date(wallMs));
  const ms = instantAt(spans, wallMs) ?? instantAt(spans, wallMs + dayMs);
  return new Date(ms ?? wallMs);
};

export const hoursOfWeek = 168;

/**
 * Which hour of the week clocks show in each quarter of an hour of a day of UTC, from 0 on Mondays at midnight to 167. Clocks of
 * today differ from UTC by full quarters.
 */
export const hoursOfQuarters = (dayStartMs: number, zone: string): Int32Array => {
  const spans = spansOf(zone, new Date(dayStartMs));
  const hours = new Int32Array(dayMs / quarterMs);
  for (let n = 0; n < hours.length; n++) {
    const ms = dayStartMs + n * quarterMs;
    hours[n] = (Math.floor((ms + offsetAt(spans, ms)) / hourMs) + firstHour) % hoursOfWeek;
  }
  return hours;
};

const firstHour = 3 * 24; // 1970 began on a Thursday

const spansOf = (zone: string, at: Date): readonly ZoneSpan[] => zoneSpans(zone, at) ?? [];

const mondayFirst = (wall: Date): number => (wall.getUTCDay() + 6) % 7;

const nextOf = (at: Date, unit: CalendarUnit, zone: string): Date => {
  const wall = new Date(wallOf(at, zone));
  if (unit === "hour") return nextHour(at, wall, zone);
  for (let units = 1; ; units++) {
    const next = instantOn(beginningAfter(wall, unit, units), zone);
    if (next > at) return next;
  }
};

/** Clocks that change within an hour begin another one there. */
const nextHour = (at: Date, wall: Date, zone: string): Date => {
  const next = at.getTime() + hourMs - (wall.getTime() % hourMs);
  const changed = spansOf(zone, at).find(({ from }) => from > at.getTime() && from < next);
  return new Date(changed?.from ?? next);
};

const beginningAfter = (wall: Date, unit: Exclude<CalendarUnit, "hour">, units: number): number => {
  const [year, month, day] = [wall.getUTCFullYear(), wall.getUTCMonth(), wall.getUTCDate()];
  switch (unit) {
    case "day":
      return Date.UTC(year, month, day + units);
    case "week":
      return Date.UTC(year, month, day - mondayFirst(wall) + 7 * units);
    case "month":
      return Date.UTC(year, month + units, 1);
  }
};
