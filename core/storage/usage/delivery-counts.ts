import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { gather } from "../../runtime/batching/gather.ts";
import type { DeliveryRow } from "../messages/deliveries.ts";
import { collectionOf } from "../mongo/collection.ts";
import { refusedOf, retryConflicts, unlessTaken } from "../mongo/duplicate.ts";
import { type Period, periodsAt, stepNumber, type TenantUsageRow, tenantUsageCollection } from "./tenant-usage.ts";

/** Deliveries that are sent as one piece of work, whose `id` is the same in every run of it. */
export type Piece = {
  id: string;
  tenantId: string;
  /** The document that is given back or ended when the work is over; several pieces may have the same. */
  holder: string;
};

export type DeliveryCounts = ReturnType<typeof deliveryCounts>;

const piecesAtOnce = 200; // of one write
const mostNoted = 2_000; // pieces under way of a tenant, some 80 bytes each; what a kill leaves goes with the next run
const mostHolders = 10_000; // that this process has counted for and not heard the end of: those that were halted
const forgetMs = 500; // nobody waits for it

/**
 * Usage of deliveries, made from those that are stored. A piece of work is counted before it ends, and noted in the same
 * write: a run that comes after a kill finds what an earlier one has counted, and adds what is missing. Each delivery
 * counts in the periods in which it was made, whoever counts it.
 */
export const deliveryCounts = (db: Db) => {
  const rows = collectionOf<TenantUsageRow>(db, tenantUsageCollection);
  const add = gather({ write: (all: readonly Sum[]) => addAll(rows, all), most: piecesAtOnce, inFlight: 1 });
  const remove = gather({
    write: (all: readonly Noted[]) => removeAll(rows, all),
    most: piecesAtOnce,
    inFlight: 1,
    everyMs: forgetMs,
  });
  const noted = new Map<string, Noted[]>();
  return {
    /** Counts what is stored of a piece, in all its runs. May be repeated. */
    count: async (piece: Piece, stored: readonly DeliveryRow[]): Promise<void> => {
      const sums = sumsOf(piece, stored);
      if (sums.length === 0) return;
      if (noted.size >= mostHolders) noted.delete(noted.keys().next().value ?? "");
      noted.set(piece.holder, [
        ...(noted.get(piece.holder) ?? []),
        ...sums.map(({ usageId, id }) => ({ usageId, id })),
      ]);
      await Promise.all(sums.map(add));
    },

    /** Takes the notes of pieces away: their work has ended, and is never run again. */
    forget: async (holder: string): Promise<void> => {
      const all = noted.get(holder) ?? [];
      noted.delete(holder);
      await Promise.all(all.map(remove)).catch(() => undefined); // then they stay, and are the oldest one day
    },
  };
};

type Noted = { usageId: string; id: string };
type Sum = Noted & { tenantId: string; period: Period; count: number };

/** Of a delivery that was never handed to its provider. */
const uncounted: readonly DeliveryRow["status"][] = ["suppressed", "scheduled"];

/** How many of a piece's deliveries belong to which period. */
const sumsOf = ({ id, tenantId }: Piece, stored: readonly DeliveryRow[]): Sum[] => {
  const ended = stored.filter(({ status, sent_at: at }) => at !== undefined || !uncounted.includes(status));
  const sums = new Map<string, Sum>();
  for (const of of Map.groupBy(ended, ({ created_at: at }) => stepNumber(at)).values())
    for (const period of of.slice(0, 1).flatMap(({ created_at: at }) => periodsAt(at))) {
      const usageId = `${period.id}/${tenantId}`;
      const before = sums.get(usageId)?.count ?? 0;
      sums.set(usageId, { usageId, id, tenantId, period, count: before + of.length });
    }
  return [...sums.values()];
};

/** Adds pieces that nobody has noted yet, those of a document in one update; what that refuses is looked at one by one. */
const addAll = async (rows: Collection<TenantUsageRow>, all: readonly Sum[]): Promise<void[]> => {
  const groups = byDocument(onceEach(all));
  const write = groups.map(({ of }) => ({ updateOne: { ...added(of), upsert: true } }));
  const refused = await retryConflicts(() => rows.bulkWrite(write, { ordered: false })).then(
    () => [],
    (error: unknown) => refusedOf(groups, error),
  );
  for (const { of } of refused) for (const sum of of) await addOne(rows, sum);
  return all.map(() => undefined);
};

/** Of two runs of a piece that are counted at the same moment, what the one that knows more has stored. */
const onceEach = (all: readonly Sum[]): Sum[] =>
  [...Map.groupBy(all, ({ usageId, id }) => `${usageId} ${id}`).values()].flatMap((runs) =>
    runs.toSorted((a, b) => b.count - a.count).slice(0, 1),
  );

/** In one order, whoever writes them: two writers do not wait for each other in a circle. */
const byDocument = <T extends Noted>(all: readonly T[]): { usageId: string; of: T[] }[] =>
  [...Map.groupBy(all, ({ usageId }) => usageId)]
    .map(([usageId, of]) => ({ usageId, of }))
    .sort((a, b) => (a.usageId < b.usageId ? -1 : 1));

const added = (sums: readonly Sum[]) => ({
  filter: { _id: sums[0]?.usageId ?? "", "counting.id": { $nin: sums.map(({ id }) => id) } },
  update: {
    $inc: { deliveries: sums.reduce((sum, { count }) => sum + count, 0) },
    $push: { counting: { $each: sums.map(({ id, count }) => ({ id, count })), $slice: -mostNoted } },
    $setOnInsert: { tenant_id: sums[0]?.tenantId ?? "", expires_at: sums[0]?.period.expiresAt ?? new Date(0) },
  },
});

const mostTries = 5; // each is lost to another run of the same piece only, or to the one that makes the document

const addOne = async (rows: Collection<TenantUsageRow>, sum: Sum): Promise<void> => {
  for (let tries = 1; tries <= mostTries; tries++) if (await hasAdded(rows, sum)) return;
  throw new Error(`usage of ${sum.id} changes too often to be counted`);
};

/** Adds what is missing of a piece; false when another run has changed it meanwhile. */
const hasAdded = async (rows: Collection<TenantUsageRow>, sum: Sum): Promise<boolean> => {
  const { usageId, id, count } = sum;
  const row = await rows.findOne({ _id: usageId }, { projection: { counting: 1 } });
  const known = row?.counting?.find((one) => one.id === id);
  if (known !== undefined && known.count >= count) return true;
  if (known === undefined) {
    const { filter, update } = added([sum]);
    return (
      (await unlessTaken(() => retryConflicts(() => rows.updateOne(filter, update, { upsert: true })), null)) !== null
    );
  }
  const { matchedCount } = await rows.updateOne(
    { _id: usageId, counting: { $elemMatch: known } },
    { $inc: { deliveries: count - known.count }, $set: { "counting.$.count": count } },
  );
  return matchedCount === 1;
};

const removeAll = async (rows: Collection<TenantUsageRow>, all: readonly Noted[]): Promise<void[]> => {
  const write = byDocument(all).map(
    ({ usageId: _id, of }): AnyBulkWriteOperation<TenantUsageRow> => ({
      updateOne: { filter: { _id }, update: { $pull: { counting: { id: { $in: of.map(({ id }) => id) } } } } },
    }),
  );
  await retryConflicts(() => rows.bulkWrite(write, { ordered: false }));
  return all.map(() => undefined);
};
