import type { Collection, Db } from "mongodb";
import { gather } from "../../runtime/batching/gather.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { retryConflicts, unlessTaken } from "../mongo/duplicate.ts";

/** What a tenant has used of a limit in one period. `_id` is `tenant:period`, e.g. `ten_…:2026-11`. */
export type UsageRow = {
  _id: string;
  tenant_id: string;
  /** A UTC calendar month (`2026-11`) or `first-day`. */
  period: string;
  messages: number;
  /** Counted in `messages` for messages of which it is not noted yet that they were stored. */
  pending?: Pending[];
  /** Kept for more than a year. */
  created_at: Date;
};

/** What was reserved for a message that was about to be stored. */
export type Pending = { id: string; count: number; at: Date };

export const usageCollection: CollectionSpec = {
  name: "usage",
  indexes: [
    { key: { tenant_id: 1, period: 1 }, name: "tenant" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: 400 * 86_400 },
  ],
  owner: { kind: "tenant", member: "tenant_id" },
  appRemoval: { kept: "counts of the tenant" },
  erasure: { kept: "names nobody" },
  retention: { index: "retention" },
};

export type Usage = ReturnType<typeof usage>;

/** What a message has reserved: so many deliveries in each of these periods. */
export type Reserved = { periods: string[]; count: number };

/** The calendar month that a message counts in, UTC. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7);

/** Period of an organisation's first 24 hours. Source: docs/reference/limits.md#quotas. */
export const firstDay = "first-day";

const mostPending = 500; // of which most are confirmed within noteMs; a kill leaves those of the requests in hand
const noteMs = 100; // nobody waits for the note that a message was stored

/** Counters of what was reserved and sent. */
export const usage = (db: Db) => {
  const rows = collectionOf<UsageRow>(db, usageCollection);
  const confirm = gather({ write: (stored: readonly Stored[]) => confirmAll(rows, stored), ...batched });
  return {
    /** Adds `count` unless that would pass `limit`; false when it would. It is pending until confirmed or withdrawn. */
    reserve: async (wanted: Reservation): Promise<boolean> => {
      if (wanted.count > wanted.limit) return false;
      // The document may have been made by another at the same moment: only a second refusal means that it is full.
      return (await reserveOnce(rows, wanted)) || reserveOnce(rows, wanted);
    },

    /** Notes that a message was stored for which something was reserved. */
    confirm: async (tenantId: string, messageId: string, { periods }: Pick<Reserved, "periods">): Promise<void> => {
      await Promise.all(periods.map((period) => confirm({ usageId: idOf(tenantId, period), messageId })));
    },

    /** Takes back what is pending for a message: once, however often it is asked for. */
    withdraw: async (tenantId: string, period: string, { id, count }: Omit<Pending, "at">): Promise<void> => {
      await rows.updateOne(
        { _id: idOf(tenantId, period), "pending.id": id },
        { $inc: { messages: -count }, $pull: { pending: { id } } },
      );
    },

    /** Gives back what was reserved by a stored message and not used, or (negative) adds what was used beyond it. */
    giveBack: async (tenantId: string, { periods }: Pick<Reserved, "periods">, count: number, now: Date) => {
      if (count === 0) return;
      for (const period of periods) {
        const counted = { tenant_id: tenantId, period, created_at: now }; // by nobody yet, when nothing was reserved
        const update = { $inc: { messages: -count }, $setOnInsert: counted };
        const write = () => rows.updateOne({ _id: idOf(tenantId, period) }, update, { upsert: count < 0 });
        const isMade = (await unlessTaken(() => retryConflicts(write), null)) === null; // by another, at this moment
        if (isMade) await write();
      }
    },

    /** What is used, and what of it is pending. */
    find: async (tenantId: string, period: string): Promise<{ messages: number; pending: Pending[] }> => {
      const row = await rows.findOne({ _id: idOf(tenantId, period) });
      return { messages: row?.messages ?? 0, pending: row?.pending ?? [] };
    },
  };
};

const idOf = (tenantId: string, period: string): string => `${tenantId}:${period}`;

type Stored = { usageId: string; messageId: string };

const batched = { most: 200, inFlight: 1, everyMs: noteMs };

const confirmAll = async (rows: Collection<UsageRow>, stored: readonly Stored[]): Promise<void[]> => {
  for (const [usageId, group] of Map.groupBy(stored, (one) => one.usageId)) {
    const ids = group.map(({ messageId }) => messageId);
    await rows.updateOne({ _id: usageId }, { $pull: { pending: { id: { $in: ids } } } });
  }
  return stored.map(() => undefined);
};

type Reservation = {
  tenantId: string;
  period: string;
  messageId: string;
  count: number;
  limit: number;
  now: Date;
};

const reserveOnce = async (rows: Collection<UsageRow>, wanted: Reservation): Promise<boolean> => {
  const { tenantId, period, messageId, count, limit, now } = wanted;
  const pending = { $each: [{ id: messageId, count, at: now }], $slice: -mostPending };
  const add = () =>
    rows.updateOne(
      { _id: idOf(tenantId, period), messages: { $lte: limit - count } },
      { $inc: { messages: count }, $push: { pending }, $setOnInsert: { tenant_id: tenantId, period, created_at: now } },
      { upsert: true },
    );
  const full = null; // the period's document exists, and the filter did not match it
  return (await unlessTaken(() => retryConflicts(add), full)) !== full;
};
