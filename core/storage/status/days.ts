import type { Db } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import { type Component, components, type Status } from "../../schema/status/vocabulary.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { anyText } from "../mongo/page-range.ts";

/** How many minutes of a day each component was how. `_id` is the day, UTC: `2026-11-23`. */
export type StatusDayRow = {
  _id: string;
  minutes: Record<Component, Partial<Record<Status, number>>>;
  /** The last minute that was counted, since 1970; none is counted twice. */
  last_minute: number;
  created_at: Date;
};

export const statusDayCollection: CollectionSpec = {
  name: "status_days",
  indexes: [{ key: { created_at: 1 }, name: "retention", expireAfterSeconds: 400 * 86_400 }],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

/** What a minute was like. */
export type Minute = { minute: number; states: Record<Component, Status> };

export type StatusDays = ReturnType<typeof statusDays>;

/** The history of the service's status, which every apiserver writes: the first one counts a minute. */
export const statusDays = (db: Db) => {
  const rows = collectionOf<StatusDayRow>(db, statusDayCollection);
  const begin = (day: string): Promise<boolean> =>
    insertNew(rows, { _id: day, minutes: noMinutes(), last_minute: 0, created_at: new Date(day) });
  return {
    /** Counts minutes, in their order; those that are counted already are left out. */
    record: async (minutes: readonly Minute[]): Promise<void> => {
      const days = new Set(minutes.map(dayOf));
      for (const day of days) await begin(day); // two at most, unless the database was away
      const writes = minutes.map((one) => ({ updateOne: { filter: notYet(one), update: counting(one) } }));
      if (writes.length > 0) await rows.bulkWrite(writes, { ordered: true });
    },

    /** The last days, today included, the oldest first; those without a row are left out. */
    last: (days: number, now: Date): Promise<StatusDayRow[]> => {
      const first = new Date(now.getTime() - (days - 1) * dayMs).toISOString().slice(0, 10);
      return rows
        .find({ _id: { $gte: first, $lt: anyText.$lt } })
        .sort({ _id: 1 })
        .limit(days + 1)
        .toArray();
    },
  };
};

const noMinutes = (): StatusDayRow["minutes"] =>
  Object.fromEntries(components.map((name) => [name, {}])) as StatusDayRow["minutes"]; // sound: each has one

const dayOf = ({ minute }: Minute): string => new Date(minute * 60_000).toISOString().slice(0, 10);

const notYet = (one: Minute) => ({ _id: dayOf(one), last_minute: { $lt: one.minute } });

const counting = ({ minute, states }: Minute) => ({
  $set: { last_minute: minute },
  $inc: Object.fromEntries(components.map((name) => [`minutes.${name}.${states[name]}`, 1])),
});
