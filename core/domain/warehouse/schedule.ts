import type { Frequency, WarehouseSchedule } from "../../schema/warehouse/export.ts";
import { dayMs } from "../durations.ts";
import { instantAt, offsetAt, type ZoneSpan, zoneSpans } from "../zone-spans.ts";

/**
 * How long after its end a window is read, ms: longer than the ten minutes for which a write is repeated while the store is
 * away, as what is written carries the instant before its first attempt; and than clocks differ.
 */
export const closeAfterMs = 900_000;

/**
 * The end of the window that is to be exported now: the last instant of the schedule that has closed, if it lies behind
 * `since`. Null when there is none. What was missed is made up for by one window.
 */
export const dueWindowEnd = (schedule: WarehouseSchedule, since: Date, now: Date): Date | null => {
  const closed = now.getTime() - closeAfterMs;
  const last = instantsAround(schedule, closed).findLast((ms) => ms <= closed);
  return last !== undefined && last > since.getTime() ? new Date(last) : null;
};

/** When the window after `since` is exported. */
export const nextRunAt = (schedule: WarehouseSchedule, since: Date, now: Date): Date => {
  const after = Math.max(since.getTime(), now.getTime() - closeAfterMs);
  const next = instantsAround(schedule, after).find((ms) => ms > after);
  return new Date((next ?? after + dayMs) + closeAfterMs);
};

const frequencyMs: Readonly<Record<Frequency, number>> = {
  "15m": 900_000,
  "1h": 3_600_000,
  "6h": 21_600_000,
  "12h": 43_200_000,
  "24h": dayMs,
};

/**
 * The instants of the schedule of some days around one: on each day of the zone from `start_at` on, round the clock, but for
 * those in the excluded window. Of a wall time that clocks show twice the first counts.
 */
const instantsAround = (schedule: WarehouseSchedule, aroundMs: number): number[] => {
  const spans = zoneSpans(schedule.timezone, new Date(aroundMs)) ?? utc;
  const today = Math.floor((aroundMs + offsetAt(spans, aroundMs)) / dayMs) * dayMs;
  const walls = [-2, -1, 0, 1, 2].flatMap((day) => wallsOf(schedule, today + day * dayMs));
  const instants = walls.flatMap((wall) => instantAt(spans, wall) ?? []);
  return [...new Set(instants)].sort((a, b) => a - b);
};

const utc: readonly ZoneSpan[] = [{ from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY, offset: 0 }];

const wallsOf = ({ frequency, start_at, exclude_window: excluded }: WarehouseSchedule, day: number): number[] => {
  const [step, start] = [frequencyMs[frequency], timeOf(start_at)];
  const times = Array.from({ length: dayMs / step }, (_, n) => (start + n * step) % dayMs);
  return times.filter((time) => !isExcluded(excluded, time)).map((time) => day + time);
};

const isExcluded = (window: WarehouseSchedule["exclude_window"], time: number): boolean => {
  if (window === null) return false;
  const [start, end] = [timeOf(window.start), timeOf(window.end)];
  return start <= end ? time >= start && time < end : time >= start || time < end;
};

const timeOf = (text: string): number => {
  const [hours = 0, minutes = 0] = text.split(":").map(Number);
  return (hours * 60 + minutes) * 60_000;
};

/** Whether the excluded window leaves no instant at all. */
export const neverRuns = (schedule: WarehouseSchedule): boolean => wallsOf(schedule, 0).length === 0;
