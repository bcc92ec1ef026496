import { instantOn, wallOf } from "#core/domain/analytics/intervals.ts";
import { dayMs, hourMs, quarterMs } from "#core/domain/durations.ts";
import { instantOf } from "#core/domain/iso-instant.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import { invalid } from "#core/errors.ts";
import { analyticsLimits, type Comparison } from "#core/schema/analytics/query.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";

/** What a query says of its range, and what it does not say of it. */
export type RangeQuery = { from?: string; to?: string; timezone?: string; compare?: Comparison };
export type RangeFacts = {
  now: Date;
  zone: string;
  keptDays: number;
  /** What counters are kept by: the bounds of a range are full ones. */
  unit?: RangeUnit;
};

/** By which what is counted is kept. */
export type RangeUnit = "hour" | "quarter";

/** The range that is counted, and the one that it is compared with. */
export type Asked = {
  range: HourRange;
  previous: HourRange | null;
  timezone: string;
  clamped: boolean;
  completeFrom: Date;
};

/**
 * The range that a query asks for: full hours, or quarters of an hour, as counters are kept by them. Source: docs/reference/analytics.md#ranges.
 * @throws ValidationError
 */
export const askedRange = (query: RangeQuery, { now, zone, keptDays, unit = "hour" }: RangeFacts): Asked => {
  const timezone = query.timezone ?? zone;
  if (!isTimeZone(timezone)) throw invalid("timezone", `${timezone} is not an IANA time zone`);
  const whole = rangeOf(query, now, unit);
  const kept = fullFrom(now.getTime() - keptDays * dayMs, unit);
  const range = { from: later(whole.from, kept), to: later(whole.to, kept) };
  const previous = beforeOf(whole, query.compare ?? "none", { zone: timezone, unit });
  return {
    range,
    previous: previous !== null && previous.from >= kept ? previous : null,
    timezone,
    clamped: range.from > whole.from,
    completeFrom: later(range.from, fullFrom(now.getTime() - analyticsLimits.keptDays * dayMs, unit)),
  };
};

const later = (a: Date, b: Date): Date => (a > b ? a : b);

const unitMs: Readonly<Record<RangeUnit, number>> = { hour: hourMs, quarter: quarterMs };

/** The first full one that is not before. */
const fullFrom = (ms: number, unit: RangeUnit): Date => new Date(Math.ceil(ms / unitMs[unit]) * unitMs[unit]);

/** The range that is named. @throws ValidationError */
export const rangeOf = ({ from, to }: RangeQuery, now: Date, unit: RangeUnit): HourRange => {
  const end = to === undefined ? fullFrom(now.getTime() + 1, unit) : fullOf("to", to, unit);
  const start =
    from === undefined ? new Date(end.getTime() - analyticsLimits.usualDays * dayMs) : fullOf("from", from, unit);
  if (start >= end) throw invalid("to", "must be after from");
  if (end.getTime() - start.getTime() > analyticsLimits.days * dayMs)
    throw invalid("from", `must be at most ${analyticsLimits.days} days before to`, { limit: analyticsLimits.days });
  return { from: start, to: end };
};

const refusals: Readonly<Record<RangeUnit, string>> = {
  hour: "must be a full hour of UTC, as events are counted by the hour",
  quarter: "must be a full quarter of an hour, as deliveries are counted by it",
};

const fullOf = (field: string, text: string, unit: RangeUnit): Date => {
  const at = instantOf(text);
  if (Number.isNaN(at.getTime())) throw invalid(field, "must be an instant of ISO 8601");
  if (at.getTime() % unitMs[unit] !== 0) throw invalid(field, refusals[unit]);
  return at;
};

const beforeOf = (
  range: HourRange,
  compare: Comparison,
  { zone, unit }: { zone: string; unit: RangeUnit },
): HourRange | null => {
  if (compare === "none") return null;
  const [from, to] = [wallOf(range.from, zone), wallOf(range.to, zone)];
  const before =
    compare === "previous_year"
      ? { from: instantOn(yearBefore(from), zone), to: instantOn(yearBefore(to), zone) }
      : { from: instantOn(2 * from - to, zone), to: range.from };
  if ([before.from, before.to].some((at) => at.getTime() % unitMs[unit] !== 0))
    throw invalid("compare", `the clocks of ${zone} have changed by a part of an hour between both ranges`);
  return before;
};

/** The same day and time a year before; of 29 February the 28th. */
const yearBefore = (wallMs: number): number => {
  const at = new Date(wallMs);
  const month = at.getUTCMonth();
  at.setUTCFullYear(at.getUTCFullYear() - 1);
  return at.getUTCMonth() === month ? at.getTime() : at.getTime() - dayMs;
};
