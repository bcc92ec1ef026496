import { hash } from "node:crypto";
import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { type FoldChange, type FoldedRow, type Folding, foldInto } from "./folding.ts";

/** The roll-up of a name's events of one UTC day, by hour. Counts only grow: events that are erased stay counted. */
export type EventDayRow = FoldedRow & {
  tenant_id: string;
  app_id: string;
  name: string;
  day: Date;
  count: number;
  /** Different people. */
  users: number;
  /** Events of each of the 24 hours, and the sums of their values. */
  hours: number[];
  sums: number[];
};

const keptDays = 800; // more than any plan keeps events

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

/** What a batch adds to a day. */
export type DayChange = { hours: ReadonlyMap<number, { count: number; sum: number }>; users: number };

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

/** A day before any event. */
export const emptyDay = (of: Pick<EventDayRow, "_id" | "tenant_id" | "app_id" | "name" | "day">): EventDayRow => ({
  ...of,
  count: 0,
  users: 0,
  hours: Array.from({ length: 24 }, () => 0),
  sums: Array.from({ length: 24 }, () => 0),
  revision: 0,
  batches: [],
});

const fold = (row: EventDayRow, changes: readonly DayChange[]): EventDayRow => {
  const after = { ...row, hours: [...row.hours], sums: [...row.sums] };
  for (const { hours, users } of changes) {
    after.users += users;
    for (const [hour, { count, sum }] of hours) {
      after.count += count;
      after.hours[hour] = (after.hours[hour] ?? 0) + count;
      after.sums[hour] = (after.sums[hour] ?? 0) + sum;
    }
  }
  return after;
};
