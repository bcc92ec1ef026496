import type { Collection, Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "./collection.ts";
import { isDuplicateKey, retryConflicts } from "./duplicate.ts";

/** What a tenant has used of a plan's limit in one period. `_id` is `tenant:period`, e.g. `ten_…:2026-11`. */
export type UsageRow = {
  _id: string;
  tenant_id: string;
  /** A UTC calendar month (`2026-11`) or `first-day`. */
  period: string;
  messages: number;
  /** Kept for more than a year. */
  created_at: Date;
};

export const usageCollection: CollectionSpec = {
  name: "usage",
  indexes: [
    { key: { tenant_id: 1, period: 1 }, name: "tenant" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: 400 * 86_400 },
  ],
};

export type Usage = ReturnType<typeof usage>;

/** The calendar month that a message counts in, UTC. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/** Period of an organisation's first 24 hours. Source: spec part 8. */
export const firstDay = "first-day";

/** Counters of what was promised and sent. */
export const usage = (db: Db) => {
  const rows = collectionOf<UsageRow>(db, usageCollection);
  return {
    /** Adds `count` unless that would pass `limit`; false when it would. */
    reserve: async (wanted: Reservation): Promise<boolean> => {
      if (wanted.count > wanted.limit) return false;
      // The document may have been made by another at the same moment: only a second refusal means that it is full.
      return (await reserveOnce(rows, wanted)) || reserveOnce(rows, wanted);
    },

    /** Gives back what was reserved and not used, or (negative) adds what was used beyond it. */
    giveBack: async (tenantId: string, period: string, count: number): Promise<void> => {
      if (count !== 0) await rows.updateOne({ _id: `${tenantId}:${period}` }, { $inc: { messages: -count } });
    },

    used: async (tenantId: string, period: string): Promise<number> =>
      (await rows.findOne({ _id: `${tenantId}:${period}` }))?.messages ?? 0,
  };
};

type Reservation = { tenantId: string; period: string; count: number; limit: number; now: Date };

const reserveOnce = async (rows: Collection<UsageRow>, wanted: Reservation): Promise<boolean> => {
  const { tenantId, period, count, limit, now } = wanted;
  try {
    await retryConflicts(() =>
      rows.updateOne(
        { _id: `${tenantId}:${period}`, messages: { $lte: limit - count } },
        { $inc: { messages: count }, $setOnInsert: { tenant_id: tenantId, period, created_at: now } },
        { upsert: true },
      ),
    );
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false; // the period's document exists, and the filter did not match it
    throw error;
  }
};
