import type { Collection, Db } from "mongodb";
import { type Clock, systemClock } from "../../domain/clock.ts";
import { quarterMs } from "../../domain/durations.ts";
import { gather } from "../../runtime/batching/gather.ts";
import type { Counts } from "../../schema/messages/message.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { waitsForFirst } from "../messages/first-waiting.ts";
import type { MessageRow } from "../messages/message-row.ts";
import { type CollectionSpec, collectionOf, farAhead, type OfApp } from "../mongo/collection.ts";
import { refusedOf, retryConflicts } from "../mongo/duplicate.ts";
import { dueIndex } from "../work/due.ts";
import type { JobRow } from "../work/jobs.ts";
import { type Leased, settle } from "../work/leases.ts";

/**
 * A quarter of an hour in which deliveries of an app were made, one of which has changed a while ago: its counters are
 * made from its deliveries. Whoever changes a delivery says so here afterwards, before their work is done.
 * Source: docs/decisions/0171.
 */
export type DueQuarterRow = JobRow & {
  quarter: Date;
  /** How often it was said that deliveries have changed. */
  revision: number;
  /** What had changed before is counted; {@link farAhead}: all is. */
  as_of: Date;
  /** Not counted again before, whoever says that it is due; absent before the first time. */
  rests_until?: Date;
};

export const dueQuarterCollection: CollectionSpec = {
  name: "due_quarters",
  indexes: [{ key: { app_id: 1, quarter: 1 }, name: "list" }, dueIndex],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { kept: "names nobody" },
  retention: { kept: "removed once all is counted" },
};

/** Changes of this time are counted together: a quarter is read again for each of them. */
const togetherMs = 1_000;
const quartersAtOnce = 200; // of one write

export const dueQuarters = (db: Db, clock: Clock = systemClock) => {
  const rows = collectionOf<DueQuarterRow>(db, dueQuarterCollection);
  const made = collectionOf<DeliveryRow>(db, deliveryCollection);
  const add = gather({ write: adding(rows, clock), most: quartersAtOnce, inFlight: 1 });
  return {
    /** Has the quarters counted again in which these deliveries were made: they are stored as they are now. May be repeated. */
    touch: async (stored: readonly TouchedDelivery[]): Promise<void> => {
      await Promise.all(quartersTouched(stored.filter(isCounted)).map(add));
    },

    /** Has the quarter counted again in which a message was accepted, whose sending ends: what was sent in that quarter has done so. */
    touchOf: async (
      message: Pick<MessageRow, "tenant_id" | "app_id" | "created_at">,
      { sent = 0 }: Counts,
    ): Promise<void> => {
      const of = touchedBy(message);
      const isTouched = sent > 0 && quarterOf(clock.now()).getTime() === of.quarter.getTime();
      if (!isTouched) await add(of);
    },

    /** Has all quarters of a range counted again that deliveries were made in; how many these are. One read for each of them. */
    recount: async (of: OfApp, range: { from: Date; to: Date }): Promise<number> => {
      const found = await quartersMade(made, of, range);
      await Promise.all(found.map(add));
      return found.length;
    },

    /** Gives a quarter back that was counted, unless deliveries have changed since it was taken. */
    counted: (row: DueQuarterRow, { restsUntil, dueAt }: { restsUntil: Date; dueAt: Date }): Promise<boolean> => {
      const set = { as_of: farAhead, rests_until: restsUntil };
      return settle(rows, row, { dueAt, set, when: { revision: row.revision } });
    },

    /** Gives it back to be counted again, as deliveries have changed meanwhile. */
    again: (row: DueQuarterRow, { asOf, restsUntil }: { asOf: Date; restsUntil: Date }): Promise<boolean> =>
      settle(rows, row, { dueAt: restsUntil, set: { as_of: asOf, rests_until: restsUntil } }),

    /** Gives one back that still rests. */
    rest: (row: DueQuarterRow, restsUntil: Date): Promise<boolean> => settle(rows, row, { dueAt: restsUntil }),

    /** Removes one of which all is counted, unless deliveries have changed since it was taken. */
    drop: async ({ _id, fence, revision }: Leased & Pick<DueQuarterRow, "revision">): Promise<boolean> =>
      (await rows.deleteOne({ _id, fence, revision })).deletedCount === 1,

    /** Until when everything of a range is counted; null when all of it is. */
    countedUntil: (of: OfApp, range: { from: Date; to: Date }): Promise<Date | null> => countedUntil(rows, of, range),
  };
};

const countedUntil = async (
  rows: Collection<DueQuarterRow>,
  { tenantId, appId }: OfApp,
  { from, to }: { from: Date; to: Date },
): Promise<Date | null> => {
  const filter = { app_id: appId, quarter: { $gte: from, $lt: to }, tenant_id: tenantId };
  const found = await rows.find(filter, { hint: "list", projection: { as_of: 1 } }).toArray();
  const open = found.map(({ as_of: at }) => at.getTime()).filter((ms) => ms < farAhead.getTime());
  return open.length === 0 ? null : new Date(Math.min(...open));
};

const adding = (rows: Collection<DueQuarterRow>, clock: Clock) => {
  const write = (all: readonly Touched[]) => {
    const now = clock.now();
    const change = { $inc: { revision: 1 }, $min: { due_at: new Date(now.getTime() + togetherMs), as_of: now } };
    const writes = all.map(({ _id, ...of }) => ({
      updateOne: {
        filter: { _id },
        update: { ...change, $setOnInsert: { ...of, lease: null, fence: 0 } },
        upsert: true,
      },
    }));
    return retryConflicts(() => rows.bulkWrite(writes, { ordered: false }));
  };

  return async (all: readonly Touched[]): Promise<void[]> => {
    const each = [...new Map(all.map((one) => [one._id, one])).values()].sort((a, b) => (a._id < b._id ? -1 : 1));
    await write(each).catch((error: unknown) => write(refusedOf(each, error))); // another made the same one
    return all.map(() => undefined);
  };
};

/** Those of a range in which deliveries were made, each found behind the one before. */
const quartersMade = async (
  rows: Collection<DeliveryRow>,
  { tenantId, appId }: OfApp,
  { from, to }: { from: Date; to: Date },
): Promise<Touched[]> => {
  const found: Touched[] = [];
  for (let at = from; at < to; ) {
    const filter = { app_id: appId, created_at: { $gte: at, $lt: to }, tenant_id: tenantId };
    const one = { hint: "made", sort: { created_at: 1 }, projection: { created_at: 1 } } as const;
    const first = await rows.findOne(filter, one);
    if (first === null) break;
    const of = touchedBy({ tenant_id: tenantId, app_id: appId, created_at: first.created_at });
    found.push(of);
    at = new Date(of.quarter.getTime() + quarterMs);
  }
  return found;
};

export type TouchedDelivery = Pick<DeliveryRow, "tenant_id" | "app_id" | "created_at" | "status" | "resend_until">;

type Touched = Pick<DueQuarterRow, "_id" | "tenant_id" | "app_id" | "quarter">;

/** One that waits to be sent for the first time is none yet. */
const isCounted = (row: TouchedDelivery): boolean => !waitsForFirst(row);

/** Most of what is stored together is of one app and quarter. */
const quartersTouched = (rows: readonly TouchedDelivery[]): Touched[] => {
  const each = new Map<string, Touched>();
  let last: Touched | null = null;
  for (const row of rows) {
    const isSame = last?.app_id === row.app_id && last.quarter.getTime() === quarterStart(row.created_at);
    if (isSame) continue;
    last = touchedBy(row);
    each.set(last._id, last);
  }
  return [...each.values()];
};

const touchedBy = ({
  tenant_id,
  app_id,
  created_at,
}: Pick<TouchedDelivery, "tenant_id" | "app_id" | "created_at">): Touched => {
  const quarter = quarterOf(created_at);
  return { _id: `${app_id}_${quarter.getTime()}`, tenant_id, app_id, quarter };
};

/** The quarter of an hour of an instant: its first moment. */
export const quarterOf = (at: Date): Date => new Date(quarterStart(at));

const quarterStart = (at: Date): number => Math.floor(at.getTime() / quarterMs) * quarterMs;
