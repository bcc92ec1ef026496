import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { type FoldChange, type FoldedRow, type Folding, foldInto } from "./folding.ts";

/** What is counted of a name in one UTC day, by the hour. */
export type HoursRow = FoldedRow & {
  tenant_id: string;
  app_id: string;
  name: string;
  day: Date;
  count: number;
  /** Of each of the 24 hours, and the sums of their values. */
  hours: number[];
  sums: number[];
};

/** The roll-up of a name's events of one UTC day. Counts only grow: events that are erased stay counted. */
export type EventDayRow = HoursRow & {
  /** Different people. */
  users: number;
};

export const keptDays = 800; // more than any plan keeps events

export const eventDayCollection: CollectionSpec = {
  name: "event_days",
  indexes: [
    { key: { app_id: 1, name: 1, day: 1 }, name: "list" },
    { key: { day: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

/** What a batch adds to the hours of a day. */
export type HoursChange = { hours: ReadonlyMap<number, { count: number; sum: number }> };

/** What a batch adds to a day. */
export type DayChange = HoursChange & { users: number };

export type EventDays = ReturnType<typeof eventDays>;

export const eventDays = (db: Db, counted: Folding<EventDayRow, DayChange>["counted"]) => {
  const rows = collectionOf<EventDayRow>(db, eventDayCollection);
  return {
    /** Adds batches to days, each once; gives the days as they are then. */
    add: (wanted: readonly FoldChange<EventDayRow, DayChange>[]): Promise<EventDayRow[]> =>
      foldInto({ rows, fold, counted }, wanted),
  };
};

/** Names a document of a definition and a day. */
export const dayIdOf = (definitionId: string, day: Date): string =>
  hash("sha256", `${definitionId}\n${day.getTime()}`, "base64url").slice(0, 32);

/** What names a day of a name. */
export type OfDay = Pick<HoursRow, "_id" | "tenant_id" | "app_id" | "name" | "day">;

/** A day before anything was counted. */
export const emptyHours = ({ _id, tenant_id, app_id, name, day }: OfDay): HoursRow => ({
  _id,
  tenant_id,
  app_id,
  name,
  day,
  count: 0,
  hours: Array.from({ length: 24 }, () => 0),
  sums: Array.from({ length: 24 }, () => 0),
  revision: 0,
  batches: [],
});

/** A day before any event. */
export const emptyDay = (of: OfDay): EventDayRow => ({ ...emptyHours(of), users: 0 });

const fold = (row: EventDayRow, changes: readonly DayChange[]): EventDayRow => ({
  ...addHours(row, changes),
  users: changes.reduce((sum, { users }) => sum + users, row.users),
});

/** A day with what some batches add to its hours. */
export const addHours = <Row extends HoursRow>(row: Row, changes: readonly HoursChange[]): Row => {
  const after = { ...row, hours: [...row.hours], sums: [...row.sums] };
  for (const { hours } of changes)
    for (const [hour, { count, sum }] of hours) {
      after.count += count;
      after.hours[hour] = (after.hours[hour] ?? 0) + count;
      after.sums[hour] = (after.sums[hour] ?? 0) + sum;
    }
  return after;
};
