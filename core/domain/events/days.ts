import { dayMs } from "../durations.ts";

/** The UTC day of an instant: its first moment. */
export const dayOf = (at: Date): Date => new Date(Math.floor(at.getTime() / dayMs) * dayMs);

/** A UTC day as `YYYY-MM-DD`. */
export const dateText = (day: Date): string => day.toISOString().slice(0, 10);

/** The last UTC days, today included, oldest first. */
export const lastDays = (now: Date, count: number): Date[] => {
  const today = dayOf(now).getTime();
  return Array.from({ length: count }, (_, n) => new Date(today - (count - 1 - n) * dayMs));
};
