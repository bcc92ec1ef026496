/**
 * Updates of an activity that went with priority 10: in the hour that began at `since`, in the hour before it, and when
 * the last one did.
 */
export type Spent = { since: Date; count: number; before: number; last: Date };

type Limit = { pauseMs: number; perHour: number };

/**
 * Apple names no figure for its budget: these are ours, for an app without and with
 * `NSSupportsLiveActivitiesFrequentUpdates`. Source: docs/reference/live-activities.md#budget.
 */
const limits = {
  usual: { pauseMs: 30_000, perHour: 60 },
  frequent: { pauseMs: 5_000, perHour: 360 },
} as const satisfies Record<string, Limit>;

const hourMs = 3_600_000;

/** Whether an update may go with priority 10 now: a device that gets more of them than its budget admits shows none. */
export const mayBeUrgent = (spent: Spent | null, isFrequent: boolean, now: Date): boolean => {
  if (spent === null) return true;
  const { pauseMs, perHour } = isFrequent ? limits.frequent : limits.usual;
  return now.getTime() - spent.last.getTime() >= pauseMs && inLastHour(spent, now) < perHour;
};

/** What is spent after another one at `now`. */
export const spentWith = (spent: Spent | null, now: Date): Spent => {
  const { since, count, before } = spent === null ? none(now) : movedOn(spent, now);
  return { since, count: count + 1, before, last: now };
};

const none = (now: Date): Omit<Spent, "last"> => ({ since: now, count: 0, before: 0 });

/** Of the hour before, the share that still lies within sixty minutes. */
const inLastHour = (spent: Spent, now: Date): number => {
  const { since, count, before } = movedOn(spent, now);
  return count + before * (1 - (now.getTime() - since.getTime()) / hourMs);
};

const movedOn = (spent: Spent, now: Date): Omit<Spent, "last"> => {
  const hours = Math.floor((now.getTime() - spent.since.getTime()) / hourMs);
  if (hours <= 0) return spent;
  if (hours >= 2) return none(now);
  return { since: new Date(spent.since.getTime() + hourMs), count: 0, before: spent.count };
};
