import { dayMs } from "#core/domain/durations.ts";
import { type Component, type Status, statuses } from "#core/schema/status/vocabulary.ts";
import type { StatusDayRow } from "#core/storage/status/days.ts";
import { shownDays } from "./board.ts";

/** A day of a component. `minutes` says in words how long it was not operational. */
export type Bar = { day: string; status: Status | "unknown"; minutes: string };

/** A bar for each of the last 90 days, the oldest first. */
export const barsOf = (name: Component, days: readonly StatusDayRow[], now: Date): Bar[] => {
  const known = new Map(days.map((day) => [day._id, day.minutes[name]]));
  return Array.from({ length: shownDays }, (_, index) => {
    const day = new Date(now.getTime() - (shownDays - 1 - index) * dayMs).toISOString().slice(0, 10);
    return { day, ...judged(known.get(day)) };
  });
};

/** Of the minutes that are recorded, how many were no outage, in percent; null when there is none. */
export const uptimeOf = (name: Component, days: readonly StatusDayRow[]): string | null => {
  const sum = (wanted: readonly Status[]): number =>
    days.reduce((all, { minutes }) => wanted.reduce((part, status) => part + (minutes[name][status] ?? 0), all), 0);
  const all = sum(statuses);
  if (all === 0) return null;
  const percent = (100 * (all - sum(["major_outage"]))) / all;
  return (Math.floor(percent * 100) / 100).toFixed(2); // never 100.00 when there was an outage
};

/** Since which day a component is recorded, and for how long; null when it is not. */
export const recordOf = (name: Component, days: readonly StatusDayRow[]): string | null => {
  const recorded = days.filter(({ minutes }) => minutesIn(minutes[name]) > 0);
  const [first] = recorded;
  if (first === undefined) return null;
  const all = recorded.reduce((sum, { minutes }) => sum + minutesIn(minutes[name]), 0);
  return `recorded since ${first._id}, ${lengthOf(all)} in all`;
};

const minutesIn = (minutes: Minutes): number => statuses.reduce((sum, status) => sum + (minutes[status] ?? 0), 0);

/** A length in the largest unit of which there are two. */
const lengthOf = (minutes: number): string => {
  if (minutes < 2 * hour) return `${minutes} min`;
  return minutes < 48 * hour ? `${Math.floor(minutes / hour)} h` : `${Math.floor(minutes / (24 * hour))} days`;
};

const hour = 60;

type Minutes = Partial<Record<Status, number>>;

const outageMinutes = 5; // in a day: fewer are shown as degraded

const judged = (minutes: Minutes | undefined): Pick<Bar, "status" | "minutes"> => {
  const { operational = 0, degraded = 0, major_outage: outage = 0 } = minutes ?? {};
  const bad = [...(outage > 0 ? [`${outage} min outage`] : []), ...(degraded > 0 ? [`${degraded} min degraded`] : [])];
  if (operational + degraded + outage === 0) return { status: "unknown", minutes: "" };
  if (outage >= outageMinutes) return { status: "major_outage", minutes: bad.join(", ") };
  return { status: bad.length > 0 ? "degraded" : "operational", minutes: bad.join(", ") || "operational" };
};
