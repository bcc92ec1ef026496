import type { AppSettings } from "../../schema/apps/settings.ts";
import { dayMs } from "../durations.ts";
import { instantAt, offsetAt, type ZoneSpan, zoneSpans } from "../zone-spans.ts";
import { timeOfDayMs } from "./time-of-day.ts";

export type QuietHours = AppSettings["quiet_hours"];

/** What is known of a recipient's clock. */
export type KnownClock = { zone: string | null; country: string | null; quietHours: unknown };

/**
 * Until when a recipient is to have quiet at an instant; null when they need not. Without a zone it is that of their
 * country, as long as any is quiet where that has several, else the app's. Their own `properties.quiet_hours` go before
 * the app's. Source: docs/reference/timing.md#quiet-hours.
 */
export const quietUntil = (
  hours: QuietHours,
  { clock, appZone, now }: { clock: KnownClock; appZone: string; now: Date },
): Date | null => {
  const own = ownHours(hours, clock.quietHours);
  if (!own.enabled) return null;
  const zones = hours.timezone === "user" ? zonesOf(clock, appZone, now) : [hours.timezone];
  const ends = zones.flatMap((zone) => endIn(own, zoneSpans(zone, now) ?? utc, now.getTime()) ?? []);
  return ends.length === 0 ? null : new Date(Math.max(...ends));
};

const utc: readonly ZoneSpan[] = [{ from: -Infinity, until: Infinity, offset: 0 }];

/** The end of the quiet hours that an instant is in; they belong to the day on which they begin. */
const endIn = ({ start, end, days }: QuietHours, spans: readonly ZoneSpan[], nowMs: number): number | null => {
  const [startMs, endMs] = [timeOfDayMs(start) ?? 0, timeOfDayMs(end) ?? 0];
  const today = Math.floor((nowMs + offsetAt(spans, nowMs)) / dayMs) * dayMs;
  for (const day of [today, today - dayMs]) {
    if (days !== null && !days.includes(weekdays[new Date(day).getUTCDay()] ?? "sunday")) continue;
    const from = instantAt(spans, day + startMs);
    const until = instantAt(spans, day + endMs + (endMs <= startMs ? dayMs : 0));
    if (from !== null && until !== null && nowMs >= from && nowMs < until) return until;
  }
  return null;
};

const weekdays = ["sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday"] as const;

/** What a person has said themselves, where that can be read; else the same. */
export const ownHours = (hours: QuietHours, said: unknown): QuietHours => {
  if (typeof said !== "object" || said === null) return hours;
  const { enabled, start, end } = said as { enabled?: unknown; start?: unknown; end?: unknown };
  if (enabled === false) return { ...hours, enabled: false };
  const own = { start: timeIn(start) ?? hours.start, end: timeIn(end) ?? hours.end };
  return timeOfDayMs(own.start) === timeOfDayMs(own.end) ? hours : { ...hours, ...own };
};

const timeIn = (value: unknown): string | null =>
  typeof value === "string" && timeOfDayMs(value) !== null ? value : null;

const zonesOf = ({ zone, country }: KnownClock, appZone: string, now: Date): readonly string[] => {
  if (zone !== null && zoneSpans(zone, now) !== null) return [zone];
  const ofCountry = country === null ? [] : countryZones(country);
  return ofCountry.length > 0 ? ofCountry : [appZone];
};

const known = new Map<string, readonly string[]>();

/** The zones of a country, two capital letters; none of what is no country. */
const countryZones = (country: string): readonly string[] => {
  const found = known.get(country) ?? zonesOfRegion(country);
  if (known.size < mostCountries) known.set(country, found);
  return found;
};

const mostCountries = 300;

const zonesOfRegion = (country: string): readonly string[] => {
  try {
    const locale = new Intl.Locale(`und-${country}`);
    const read: unknown = Reflect.get(locale, "getTimeZones"); // Node has it, the types do not yet
    const zones: unknown = typeof read === "function" ? Reflect.apply(read, locale, []) : [];
    return Array.isArray(zones) ? zones.map(String) : [];
  } catch {
    return []; // RangeError: no code of a country
  }
};
