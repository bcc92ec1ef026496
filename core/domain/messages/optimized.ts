import { hourMs } from "../durations.ts";
import { isInControl } from "../experiments/assignment.ts";
import { partOf } from "../experiments/shares.ts";
import { offsetAt, zoneSpans } from "../zone-spans.ts";
import { bestHour, heaviest, hourOf, hourWeights, type Signal, signalsForMs } from "./best-hour.ts";
import { type DueIn, isKnownZone, localTimes } from "./local-time.ts";

/** What is known of when somebody reads. */
export type Habits = { userId: string; zone: string; signals: readonly Signal[]; lastActiveAt: Date | null };

/** Whether somebody is sent to in their own hour, or in that of all, to compare both. */
export type Timed = "optimized" | "control";

type Address = { _id: string; user_id: string };
type Known = {
  clocks: ReadonlyMap<string, { zone: string | null }>;
  habits: ReadonlyMap<string, Pick<Habits, "signals" | "lastActiveAt">>;
  appZone: string;
  at: Date;
};

/** What is known of the owners of some addresses, by address; without a known zone they are in that of the app. */
export const habitsBy = (
  of: readonly Address[],
  { clocks, habits, appZone, at }: Known,
): Map<string, Habits & { isZoneUnknown: boolean }> =>
  new Map(
    of.map(({ _id, user_id: userId }) => {
      const zone = clocks.get(_id)?.zone ?? null;
      const isZoneUnknown = zone === null || !isKnownZone(zone, at);
      const { signals = [], lastActiveAt = null } = habits.get(_id) ?? {};
      return [_id, { userId, zone: isZoneUnknown ? appZone : zone, isZoneUnknown, signals, lastActiveAt }];
    }),
  );

export type Optimized = {
  messageId: string;
  start: Date;
  appZone: string;
  controlPercent: number;
  /** The hour in which all together do most; null where nothing is known. */
  commonHour: number | null;
};

/** The part of an hour within which recipients are due at one instant: they share chunks. */
const stepMs = hourMs / 6;

/** The hour of the day in which some people together do most; null where nothing is known of them. */
export const commonHourOf = (people: readonly Habits[], start: Date): number | null => {
  const sum = Array.from({ length: 24 }, () => 0);
  for (const { signals, zone } of people)
    for (const [hour, weight] of hourWeights(signals, clockIn(zone, start)).entries())
      sum[hour] = (sum[hour] ?? 0) + weight;
  return heaviest(sum);
};

/**
 * When recipients of an optimised message are due: in the hour of the day in which they do most, else in which they were active
 * last, else in the common one, the first time that clocks of their zone show it from the start on; at the start where nothing is
 * known. A control is due in the common hour. Source: docs/reference/timing.md#optimised.
 */
export const optimizedTimes = ({ messageId, start, appZone, controlPercent, commonHour }: Optimized) => {
  const times = new Map<number, DueIn>();
  const dueIn = (timeMs: number): DueIn => {
    const known = times.get(timeMs) ?? localTimes({ start, timeMs, appZone, missed: "next_day" });
    times.set(timeMs, known);
    return known;
  };
  return ({ userId, zone, signals, lastActiveAt }: Habits): { at: Date; timing: Timed } => {
    const isControl = isInControl(messageId, controlPercent, userId);
    const clock = clockIn(zone, start);
    const isActive = lastActiveAt !== null && start.getTime() - lastActiveAt.getTime() <= signalsForMs;
    const own = bestHour(signals, clock) ?? (isActive ? hourOf(lastActiveAt, clock.offsetMs) : null);
    const hour = isControl ? commonHour : (own ?? commonHour);
    const step = partOf(`${messageId}/minute`, userId) % 6;
    const due = hour === null ? null : dueIn(hour * hourMs + step * stepMs)(zone);
    return { at: due ?? start, timing: isControl ? "control" : "optimized" };
  };
};

const clockIn = (zone: string, now: Date): { now: Date; offsetMs: number } => {
  const spans = zoneSpans(zone, now);
  return { now, offsetMs: spans === null ? 0 : offsetAt(spans, now.getTime()) };
};
