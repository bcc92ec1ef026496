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
  /** Messages that have given back what they did not use, until they say so themselves. */
  settled?: string[];
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

const mostNoted = 500; // most are there for no longer than noteMs; a kill leaves those that were in hand
const noteMs = 100; // nobody waits for the note that a message was stored, or has given back

/** Counters of what was reserved and sent. */
export const usage = (db: Db) => {
  const rows = collectionOf<UsageRow>(db, usageCollection);
  const noting = (list: "pending" | "settled") => {
    const note = gather({ write: (done: readonly Noted[]) => noteAll(rows, list, done), ...batched });
    return async (tenantId: string, messageId: string, { periods }: Pick<Reserved, "periods">): Promise<void> => {
      await Promise.all(periods.map((period) => note({ usageId: idOf(tenantId, period), messageId })));
    };
  };
  return {
    ...charging(rows),

    /** Adds `count` unless that would pass `limit`; false when it would. It is pending until confirmed or withdrawn. */
    reserve: async (wanted: Reservation): Promise<boolean> => {
      if (wanted.count > wanted.limit) return false;
      // The document may have been made by another at the same moment: only a second refusal means that it is full.
      return (await reserveOnce(rows, wanted)) || reserveOnce(rows, wanted);
    },

    /** Notes that a message was stored for which something was reserved. */
    confirm: noting("pending"),

    /** Takes back what is pending for a message: once, however often it is asked for. */
    withdraw: async (tenantId: string, period: string, { id, count }: Omit<Pending, "at">): Promise<void> => {
      await rows.updateOne(
        { _id: idOf(tenantId, period), "pending.id": id },
        { $inc: { messages: -count }, $pull: { pending: { id } } },
      );
    },

    /**
     * Gives back what was reserved by a stored message and not used, or (negative) adds what was used beyond it: once,
     * however often it is asked for, until `noteSettled` is called.
     */
    giveBack: async (tenantId: string, { id, count, periods }: Return, now: Date): Promise<void> => {
      for (const period of periods) {
        const counted = { tenant_id: tenantId, period, created_at: now }; // by nobody yet, when nothing was reserved
        const settled = { $each: [id], $slice: -mostNoted };
        const update = { $inc: { messages: -count }, $push: { settled }, $setOnInsert: counted };
        const write = (upsert: boolean) =>
          rows.updateOne({ _id: idOf(tenantId, period), settled: { $ne: id } }, update, { upsert });
        // the document may have been made by another at this moment, or have the message already
        const isThere = (await unlessTaken(() => retryConflicts(() => write(count < 0)), null)) === null;
        if (isThere) await write(false);
      }
    },

    /** Notes that a message says itself that it has given back. */
    noteSettled: noting("settled"),

    /** What is used, and what of it is pending. */
    find: async (tenantId: string, period: string): Promise<{ messages: number; pending: Pending[] }> => {
      const row = await rows.findOne({ _id: idOf(tenantId, period) });
      return { messages: row?.messages ?? 0, pending: row?.pending ?? [] };
    },
  };
};

const charging = (rows: Collection<UsageRow>) => ({
  /** Adds what a message needs beyond what it had reserved, unless that would pass `limit`; once for an id, as `giveBack`. */
  charge: async (tenantId: string, { id, count, period, limit }: Charge, now: Date): Promise<boolean> => {
    if (count > limit) return false;
    const isFree = { settled: { $ne: id }, messages: { $lte: limit - count } };
    const $push = { settled: { $each: [id], $slice: -mostNoted } };
    const change = {
      $inc: { messages: count },
      $push,
      $setOnInsert: { tenant_id: tenantId, period, created_at: now },
    };
    const add = () => rows.updateOne({ _id: idOf(tenantId, period), ...isFree }, change, { upsert: true });
    if ((await unlessTaken(() => retryConflicts(add), null)) !== null) return true;
    return (await rows.countDocuments({ _id: idOf(tenantId, period), settled: id }, { limit: 1 })) === 1;
  },
});

const idOf = (tenantId: string, period: string): string => `${tenantId}:${period}`;

type Noted = { usageId: string; messageId: string };
type Charge = Omit<Pending, "at"> & { period: string; limit: number };
type Return = Pick<Reserved, "periods"> & Omit<Pending, "at">;

const batched = { most: 200, inFlight: 1, everyMs: noteMs };

const noteAll = async (
  rows: Collection<UsageRow>,
  list: "pending" | "settled",
  done: readonly Noted[],
): Promise<void[]> => {
  for (const [usageId, group] of Map.groupBy(done, (one) => one.usageId)) {
    const these = { $in: group.map(({ messageId }) => messageId) };
    await rows.updateOne(
      { _id: usageId },
      { $pull: list === "pending" ? { pending: { id: these } } : { settled: these } },
    );
  }
  return done.map(() => undefined);
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
  const pending = { $each: [{ id: messageId, count, at: now }], $slice: -mostNoted };
  const add = () =>
    rows.updateOne(
      { _id: idOf(tenantId, period), messages: { $lte: limit - count } },
      { $inc: { messages: count }, $push: { pending }, $setOnInsert: { tenant_id: tenantId, period, created_at: now } },
      { upsert: true },
    );
  const full = null; // the period's document exists, and the filter did not match it
  return (await unlessTaken(() => retryConflicts(add), full)) !== full;
};
