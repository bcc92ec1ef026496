import { dayMs, quarterMs } from "../durations.ts";
import { boundsOf, intervalOf } from "./intervals.ts";

/** What became of deliveries of a message, by when it did. */
export const courseSteps = ["sent", "delivered", "opened", "clicked", "converted"] as const;
export type CourseStep = (typeof courseSteps)[number];

/** How many deliveries came so far in a minute; after the first day of the message in a quarter of an hour. */
export type CourseCount = { step: CourseStep; at_ms: number; count: number };

export type CourseInterval = "minute" | "hour" | "day";

export type CoursePoint = { at: Date } & Record<CourseStep, number>;

const minuteMs = 60_000;
/** Intervals that are shown: a day of minutes, a month of hours, and 400 days. */
const mostPoints: Readonly<Record<CourseInterval, number>> = { minute: 1_440, hour: 744, day: 400 };

/**
 * Points from a message's beginning to the last thing that happened, zeros among them; at most so many as an interval has. Hours
 * and days are those of a zone's clocks.
 */
export const courseOf = (
  counts: readonly CourseCount[],
  { begunAt, interval, zone }: { begunAt: Date; interval: CourseInterval; zone: string },
): CoursePoint[] => {
  const bounds = boundsOfCourse(counts, { begunAt, interval, zone });
  const points = bounds
    .slice(0, -1)
    .map((at): CoursePoint => ({ at, sent: 0, delivered: 0, opened: 0, clicked: 0, converted: 0 }));
  for (const { step, at_ms: ms, count } of counts) {
    const point = points[intervalOf(bounds, new Date(ms))];
    if (point !== undefined) point[step] += count;
  }
  return points;
};

const boundsOfCourse = (
  counts: readonly CourseCount[],
  { begunAt, interval, zone }: { begunAt: Date; interval: CourseInterval; zone: string },
): Date[] => {
  const last = counts.reduce((latest, { at_ms: ms }) => Math.max(latest, ms), Number.NEGATIVE_INFINITY);
  const [unitMs, most] = [interval === "minute" ? minuteMs : quarterMs, mostPoints[interval]];
  const from = new Date(Math.floor(begunAt.getTime() / unitMs) * unitMs);
  if (last < from.getTime()) return [];
  if (interval === "minute") {
    const minutes = Math.min(most, Math.floor((last - from.getTime()) / minuteMs) + 1);
    return Array.from({ length: minutes + 1 }, (_, n) => new Date(from.getTime() + n * minuteMs));
  }
  const longestMs = most * (interval === "hour" ? dayMs / 24 : dayMs) - dayMs; // clocks may show an hour twice
  const to = new Date(Math.min(last + unitMs, from.getTime() + longestMs));
  return boundsOf({ from, to }, interval, { zone, most: most + 1 }) ?? [];
};
