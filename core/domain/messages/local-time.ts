import type { MissedLocalTime } from "../../schema/apps/settings.ts";
import { dayMs } from "../durations.ts";
import { instantAt, offsetAt, type ZoneSpan, zoneSpans } from "../zone-spans.ts";

/** When a message is sent by local time. `timeMs`: milliseconds since midnight; null: what clocks of `appZone` show at `start`. */
export type LocalTime = {
  start: Date;
  timeMs: number | null;
  appZone: string;
  missed: MissedLocalTime;
  /** Not before this instant, which is later than `start`: then nobody is missed. */
  from?: Date | undefined;
};

/** When recipients of a zone are due; null: not at all. */
export type DueIn = (zone: string) => Date | null;

/**
 * When recipients are due: the first instant from `start` on at which clocks of their zone show the time of day. It has
 * passed for those where it was before `start` on the day that it is in the app's zone; for them `missed` decides. A name
 * that is no zone is the app's. Computed once for each zone. Source: docs/reference/timing.md#local-time.
 */
export const localTimes = ({ start, timeMs, appZone, missed, from }: LocalTime): DueIn => {
  const ofApp = spansOf(appZone, start) ?? utc;
  const startMs = start.getTime();
  const wallStart = startMs + offsetAt(ofApp, startMs);
  const day = Math.floor(wallStart / dayMs) * dayMs;
  const time = timeMs ?? wallStart - day;
  const dueOf = (spans: readonly ZoneSpan[]): Date | null => {
    if (from !== undefined) return new Date(nextShown(spans, time, from.getTime()));
    const isMissed = missed !== "next_day" && (instantAt(spans, day + time) ?? startMs) < startMs;
    if (isMissed) return missed === "skip" ? null : start;
    return new Date(nextShown(spans, time, startMs));
  };
  const known = new Map<string, Date | null>();
  return (zone) => {
    const found = known.get(zone);
    if (found !== undefined) return found;
    const due = dueOf(spansOf(zone, start) ?? ofApp);
    known.set(zone, due);
    return due;
  };
};

/** Whether a name is that of a zone whose clocks are known. */
export const isKnownZone = (zone: string, at: Date): boolean => spansOf(zone, at) !== null;

const spansOf = zoneSpans;

const utc: readonly ZoneSpan[] = [{ from: -Infinity, until: Infinity, offset: 0 }];

/** The first instant from `fromMs` on at which clocks show a time of day. */
const nextShown = (spans: readonly ZoneSpan[], timeMs: number, fromMs: number): number => {
  const today = Math.floor((fromMs + offsetAt(spans, fromMs)) / dayMs) * dayMs;
  for (const days of [-1, 0, 1, 2, 3]) {
    const ms = instantAt(spans, today + days * dayMs + timeMs);
    if (ms !== null && ms >= fromMs) return ms;
  }
  return fromMs; // not reached: no zone leaves out three days
};
