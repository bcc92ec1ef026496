import type { Collection, Db } from "mongodb";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { findIds } from "../mongo/pages.ts";
import { type SuppressionKeyRow, suppressionKeyCollection } from "./keys.ts";
import type { SuppressionRow } from "./suppression-row.ts";

const page = 10_000; // ids in one reply
const recountMs = 3_600_000; // what ended by itself is taken off that often at most, and only where there is no room

/**
 * How many entries the apps have: a number that every write adds to. It is only counted where somebody asks for it the
 * first time, or is about to be refused: entries that end by themselves are not taken off, nor is what a kill between
 * two writes has kept from it.
 */
export const entryCounts = (db: Db, rows: Collection<SuppressionRow>) => {
  const keys = collectionOf<SuppressionKeyRow>(db, suppressionKeyCollection);
  const counting = new Map<string, Promise<number>>(); // apps that are being counted by this process

  const count = async ({ tenantId, appId }: OfApp, most: number, now: Date): Promise<number> => {
    let found = 0;
    for (let after: string | undefined = "sup_"; after !== undefined && found <= most; ) {
      const filter = { app_id: appId, _id: idsBehind("suppression", after), tenant_id: tenantId };
      const ids: string[] = await findIds(rows, filter, { hint: "list", sort: { _id: 1 }, limit: page });
      found += ids.length;
      after = ids.length < page ? undefined : ids.at(-1);
    }
    await keys.updateOne({ _id: appId, tenant_id: tenantId }, { $set: { entries: found, counted_at: now } });
    return found;
  };

  return {
    /** Adds to what is counted; negative for entries that are gone. */
    add: async (appId: string, by: number): Promise<void> => {
      if (by !== 0) await keys.updateOne({ _id: appId, entries: { $exists: true } }, { $inc: { entries: by } });
    },

    /** How many there are; more than `limit` need not be exact. `wanted`: how many more there are to be. */
    used: async (of: OfApp, { wanted, limit }: { wanted: number; limit: number }, now: Date): Promise<number> => {
      const row = await keys.findOne({ _id: of.appId, tenant_id: of.tenantId });
      const { entries, counted_at: countedAt } = row ?? {};
      const isRecent = countedAt !== undefined && now.getTime() - countedAt.getTime() < recountMs;
      if (entries !== undefined && (entries + wanted <= limit || isRecent)) return entries;
      const counted = counting.get(of.appId) ?? count(of, limit, now).finally(() => counting.delete(of.appId));
      counting.set(of.appId, counted);
      return counted;
    },
  };
};
