import { dayMs, hourMs } from "#core/domain/durations.ts";
import { instantOf } from "#core/domain/iso-instant.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import { instantAt, offsetAt, type ZoneSpan, zoneSpans } from "#core/domain/zone-spans.ts";
import { invalid } from "#core/errors.ts";
import { analyticsLimits, type Comparison } from "#core/schema/analytics/query.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";

/** What a query says of its range, and what it does not say of it. */
export type RangeQuery = { from?: string; to?: string; timezone?: string; compare?: Comparison };
export type RangeFacts = { now: Date; zone: string; keptDays: number };

/** The range that is counted, and the one that it is compared with. */
export type Asked = {
  range: HourRange;
  previous: HourRange | null;
  timezone: string;
  clamped: boolean;
  completeFrom: Date;
};

/**
 * The range that a query asks for: full hours, as events are counted by them. Source: docs/reference/analytics.md#ranges.
 * @throws ValidationError
 */
export const askedRange = (query: RangeQuery, { now, zone, keptDays }: RangeFacts): Asked => {
  const timezone = query.timezone ?? zone;
  if (!isTimeZone(timezone)) throw invalid("timezone", `${timezone} is not an IANA time zone`);
  const whole = rangeOf(query, now);
  const kept = hourFrom(now.getTime() - keptDays * dayMs);
  const range = { from: later(whole.from, kept), to: later(whole.to, kept) };
  const previous = beforeOf(whole, query.compare ?? "none", timezone);
  return {
    range,
    previous: previous !== null && previous.from >= kept ? previous : null,
    timezone,
    clamped: range.from > whole.from,
    completeFrom: later(range.from, hourFrom(now.getTime() - analyticsLimits.keptDays * dayMs)),
  };
};

const later = (a: Date, b: Date): Date => (a > b ? a : b);

/** The first full hour that is not before. */
const hourFrom = (ms: number): Date => new Date(Math.ceil(ms / hourMs) * hourMs);

const rangeOf = ({ from, to }: RangeQuery, now: Date): HourRange => {
  const end = to === undefined ? hourFrom(now.getTime() + 1) : hourOf("to", to);
  const start = from === undefined ? new Date(end.getTime() - analyticsLimits.usualDays * dayMs) : hourOf("from", from);
  if (start >= end) throw invalid("to", "must be after from");
  if (end.getTime() - start.getTime() > analyticsLimits.days * dayMs)
    throw invalid("from", `must be at most ${analyticsLimits.days} days before to`, { limit: analyticsLimits.days });
  return { from: start, to: end };
};

const hourOf = (field: string, text: string): Date => {
  const at = instantOf(text);
  if (Number.isNaN(at.getTime())) throw invalid(field, "must be an instant of ISO 8601");
  if (at.getTime() % hourMs !== 0)
    throw invalid(field, "must be a full hour of UTC, as events are counted by the hour");
  return at;
};

const beforeOf = (range: HourRange, compare: Comparison, zone: string): HourRange | null => {
  if (compare === "none") return null;
  const [from, to] = [wallOf(range.from, zone), wallOf(range.to, zone)];
  const before =
    compare === "previous_year"
      ? { from: instantOn(yearBefore(from), zone), to: instantOn(yearBefore(to), zone) }
      : { from: instantOn(2 * from - to, zone), to: range.from };
  if ([before.from, before.to].some((at) => at.getTime() % hourMs !== 0))
    throw invalid("compare", `the clocks of ${zone} have changed by a part of an hour between both ranges`);
  return before;
};

const spansOf = (zone: string, at: Date): readonly ZoneSpan[] => zoneSpans(zone, at) ?? [];

/** What clocks show, as if it were UTC, in milliseconds. */
const wallOf = (at: Date, zone: string): number => at.getTime() + offsetAt(spansOf(zone, at), at.getTime());

/** A day that is left out whole begins where the one after it does. */
const instantOn = (wallMs: number, zone: string): Date => {
  const spans = spansOf(zone, new Date(wallMs));
  const ms = instantAt(spans, wallMs) ?? instantAt(spans, wallMs + dayMs);
  return new Date(ms ?? wallMs);
};

/** The same day and time a year before; of 29 February the 28th. */
const yearBefore = (wallMs: number): number => {
  const at = new Date(wallMs);
  const month = at.getUTCMonth();
  at.setUTCFullYear(at.getUTCFullYear() - 1);
  return at.getUTCMonth() === month ? at.getTime() : at.getTime() - dayMs;
};
