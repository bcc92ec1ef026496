import type { Db } from "mongodb";
import type { Attribution } from "../../domain/events/attribution.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";
import { addHours, emptyHours, type HoursChange, type HoursRow, keptDays, type OfDay } from "./event-days.ts";
import { type FoldChange, type Folding, foldInto } from "./folding.ts";

/**
 * The roll-up of the conversions of an event's name and one attribution in a UTC day, by the hour of their events. Counts only
 * grow: conversions that are erased stay counted.
 */
export type ConversionDayRow = HoursRow & {
  attribution: Attribution["kind"];
  /** When the first of them was stored. */
  begun_at: Date;
};

export const conversionDayCollection: CollectionSpec = {
  name: "conversion_days",
  indexes: [
    { key: { app_id: 1, name: 1, attribution: 1, day: 1 }, name: "list" },
    { key: { app_id: 1, begun_at: 1 }, name: "begun" },
    { key: { day: 1 }, name: "retention", expireAfterSeconds: keptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type ConversionDays = ReturnType<typeof conversionDays>;

export const conversionDays = (db: Db, counted: Folding<ConversionDayRow, HoursChange>["counted"]) => {
  const rows = collectionOf<ConversionDayRow>(db, conversionDayCollection);
  return {
    /** Adds the conversions of batches to days, each batch once. */
    add: async (wanted: readonly FoldChange<ConversionDayRow, HoursChange>[]): Promise<void> =>
      void (await foldInto({ rows, fold: addHours, counted }, wanted)),
  };
};

/** When the first conversion of an app was stored that is counted by its attribution; null before there is one. */
export const firstCountedConversion =
  (db: Db) =>
  async ({ tenantId, appId }: OfApp): Promise<Date | null> => {
    const options = { hint: "begun", sort: { begun_at: 1 }, projection: { begun_at: 1 } } as const;
    const filter = { app_id: appId, begun_at: { $gt: longAgo, $lt: farAhead }, tenant_id: tenantId };
    const row = await collectionOf<ConversionDayRow>(db, conversionDayCollection).findOne(filter, options);
    return row?.begun_at ?? null;
  };

/** A day before any conversion but the one that begins it. */
export const emptyConversionDay = (
  of: OfDay & Pick<ConversionDayRow, "attribution" | "begun_at">,
): ConversionDayRow => ({ ...emptyHours(of), attribution: of.attribution, begun_at: of.begun_at });
