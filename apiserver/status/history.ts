import type { Component, Status } from "#core/schema/status/vocabulary.ts";
import type { Minute, StatusDayRow, StatusDays } from "#core/storage/status/days.ts";

export type History = { days: Pick<StatusDays, "record" | "last">; shownDays: number };

const mostKept = 1_440; // minutes that wait for the database: a day
const mostWritten = 200;

type Seen = { now: Date; states: Record<Component, Status>; canWrite: boolean };

/**
 * Gives a function that notes how the service is, and returns the days that are known. Each minute counts once, as it is
 * seen first; those in which the database is away are kept until it is back.
 */
export const statusHistory = ({ days, shownDays }: History): ((seen: Seen) => Promise<StatusDayRow[]>) => {
  const waiting: Minute[] = [];
  let shown: StatusDayRow[] = [];
  let last = 0;
  return async ({ now, states, canWrite }) => {
    const minute = Math.floor(now.getTime() / 60_000);
    const isNew = minute > last;
    if (isNew) waiting.push({ minute, states });
    if (waiting.length > mostKept) waiting.shift();
    last = Math.max(last, minute);
    if (!canWrite || !isNew) return shown;
    while (waiting.length > 0) {
      const written = waiting.slice(0, mostWritten);
      await days.record(written);
      waiting.splice(0, written.length);
    }
    shown = await days.last(shownDays, now);
    return shown;
  };
};
