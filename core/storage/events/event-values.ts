import type { Db } from "mongodb";
import { type KeyValues, tallySum, type ValueTally, valuesAfter } from "../../domain/events/day-values.ts";
import { type CollectionSpec, collectionOf, farAhead, type OfApp } from "../mongo/collection.ts";
import { type FoldChange, type FoldedRow, type Folding, foldInto } from "./folding.ts";

/** The most frequent values of the properties of a name's events of one UTC day. */
export type EventValuesRow = FoldedRow & {
  tenant_id: string;
  app_id: string;
  name: string;
  day: Date;
  /** JSON of `KeyValues[]`: thousands of small documents would take the driver ten times as long. */
  keys: string;
};

const keptDays = 33; // 30 are shown, and events are taken for 30 days after they happened

export const eventValuesCollection: CollectionSpec = {
  name: "event_values",
  indexes: [
    { key: { app_id: 1, name: 1, day: 1 }, name: "list" },
    { key: { day: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "counts of values; what may be personal is left out: core/domain/events/personal.ts" },
  retention: { index: "retention" },
};

export type EventValues = ReturnType<typeof eventValues>;

export const eventValues = (db: Db, counted: Folding<EventValuesRow, ValueTally>["counted"]) => {
  const rows = collectionOf<EventValuesRow>(db, eventValuesCollection);
  return {
    /** Adds batches to days, each once. */
    add: (wanted: readonly FoldChange<EventValuesRow, ValueTally>[]): Promise<EventValuesRow[]> =>
      foldInto({ rows, fold, counted }, wanted),
  };
};

/** Reads what was counted. */
export const eventValuesOf = (db: Db) => {
  const rows = collectionOf<EventValuesRow>(db, eventValuesCollection);
  return {
    /** The values of a name's days, from one on. */
    since: async ({ tenantId, appId }: OfApp, name: string, day: Date): Promise<KeyValues[][]> => {
      const filter = { app_id: appId, name, tenant_id: tenantId, day: { $gte: day, $lt: farAhead } };
      const found = await rows.find(filter, { hint: "list", projection: { keys: 1 } }).toArray();
      return found.map(({ keys }) => readKeys(keys));
    },
  };
};

const fold = (row: EventValuesRow, tallies: readonly ValueTally[]): EventValuesRow => ({
  ...row,
  keys: JSON.stringify(valuesAfter(readKeys(row.keys), tallySum(tallies))),
});

const readKeys = (text: string): KeyValues[] => JSON.parse(text) as KeyValues[]; // sound: written above

/** A day before any event. */
export const emptyValues = (
  of: Pick<EventValuesRow, "_id" | "tenant_id" | "app_id" | "name" | "day">,
): EventValuesRow => ({ ...of, keys: "[]", revision: 0, batches: [] });
