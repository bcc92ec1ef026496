import type {
  Collection,
  Db,
  Filter,
  MatchKeysAndValues,
  OnlyFieldsOfType,
  PushOperator,
  UpdateFilter,
  WithId,
} from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { type DueWork, noWork } from "./due.ts";

/** A document that can be leased. */
export type Leasable = DueWork & { _id: string };

/** A document under a lease, as its holder took it. */
export type Leased = Pick<Leasable, "_id" | "fence">;

/** Who takes a lease, unique to a process, and for how long from `now`. */
export type LeaseTerm = { holder: string; now: Date; leaseMs: number };

export type TakeLease<Row extends Leasable> = LeaseTerm & {
  id: string;
  /** What must also be true of the document. */
  when?: Filter<Row>;
  /** What taking it changes, in the same write. */
  set?: MatchKeysAndValues<Row>;
};

/**
 * Takes a document whose lease is free or has expired, in one write: the fence grows, and `due_at` becomes the lease's
 * end, so that another is called should this holder die. Null when another has the lease, or `when` is not true of it.
 */
export const takeLease = async <Row extends Leasable>(
  rows: Collection<Row>,
  { id, holder, now, leaseMs, when = {}, set }: TakeLease<Row>,
): Promise<WithId<Row> | null> => {
  const until = new Date(now.getTime() + leaseMs);
  const isFree = { $or: [{ lease: null }, { "lease.until": { $lte: now } }] };
  return rows.findOneAndUpdate(
    { _id: id, $and: [isFree, when] } as Filter<Row>, // sound: Row has the members of Leasable
    { $set: { ...set, lease: { holder, until }, due_at: until }, $inc: { fence: 1 } } as unknown as UpdateFilter<Row>,
    { returnDocument: "after" },
  );
};

export type ExtendLease<Row extends Leasable> = Pick<LeaseTerm, "now" | "leaseMs"> & {
  /** What extending it changes, in the same write. */
  set?: MatchKeysAndValues<Row>;
};

/** Extends a lease to `leaseMs` from `now`. False when it was given back or taken by another: stop working then. */
export const extendLease = async <Row extends Leasable>(
  rows: Collection<Row>,
  { _id, fence }: Leased,
  { now, leaseMs, set }: ExtendLease<Row>,
): Promise<boolean> => {
  const until = new Date(now.getTime() + leaseMs);
  const { matchedCount } = await leasable(rows).updateOne(
    { _id, fence, lease: { $ne: null } },
    { $set: { ...set, "lease.until": until, due_at: until } } as UpdateFilter<Leasable>, // sound: Row is one
  );
  return matchedCount === 1;
};

/** The driver's types cannot see that Row has the members of Leasable. */
const leasable = <Row extends Leasable>(rows: Collection<Row>) => rows as unknown as Collection<Leasable>;

export type Settle<Row extends Leasable> = {
  /** When the document is to be looked at again; null when nothing is left to do. */
  dueAt: Date | null;
  set?: MatchKeysAndValues<Row>;
  unset?: OnlyFieldsOfType<Row, unknown, "">;
  push?: PushOperator<Row>;
  /** What must also be true of the document. */
  when?: Filter<Row>;
};

/** Gives a lease back, and writes its holder's result in the same command. False, and nothing written, when the fence is old. */
export const settle = async <Row extends Leasable>(
  rows: Collection<Row>,
  { _id, fence }: Leased,
  { dueAt, set, unset, push, when = {} }: Settle<Row>,
): Promise<boolean> => {
  const update = {
    $set: { ...set, lease: null, due_at: dueAt },
    ...(unset && { $unset: unset }),
    ...(push && { $push: push }),
  };
  const filter = { ...when, _id, fence } as Filter<Leasable>; // sound: Row is one
  const { matchedCount } = await leasable(rows).updateOne(filter, update as UpdateFilter<Leasable>); // the same
  return matchedCount === 1;
};

/** Documents of one holder whose lease ends between two instants, both after now: it may be dead, and nobody has them yet. */
export type LeasedTo = { holder: string; after: Date; until: Date };

const mostLeased = 1_000; // a process has some hundred at most

/** Reads what a holder has leases on, in the order of their ends. Row has the members that the filter names. */
export const leasedTo = <Row extends Leasable>(
  rows: Collection<Row>,
  { holder, after, until }: LeasedTo,
): Promise<WithId<Row>[]> => {
  const filter = { due_at: { $gt: after, $lte: until }, "lease.holder": holder };
  return rows
    .find(filter as unknown as Filter<Row>, { batchSize: mostLeased + 1 })
    .sort({ due_at: 1 })
    .limit(mostLeased)
    .toArray();
};

export type NamedLease = ReturnType<typeof namedLease>;

export const leaseCollection: CollectionSpec = {
  name: "leases",
  indexes: [],
  owner: { kind: "installation" },
  appRemoval: { kept: "belongs to no app" },
  erasure: { kept: "names nobody" },
  retention: { kept: "one for each name of a lock" },
};

/** One holder's view of a lock of the whole installation, by name; its fence tells holders apart. */
export const namedLease = (db: Db, { name, holder, leaseMs, clock }: NamedLeaseOptions) => {
  const rows = collectionOf<Leasable>(db, leaseCollection);
  const take = () => takeLease(rows, { id: name, holder, now: clock.now(), leaseMs });
  let fence: number | null = null;
  let isThere = false; // its document, which nobody removes
  return {
    /** Takes it when it is free or expired. */
    take: async (): Promise<{ fence: number } | null> => {
      const row = (await take()) ?? (!isThere && (await isNew(rows, name)) ? await take() : null);
      isThere = true;
      fence = row?.fence ?? null;
      return row === null ? null : { fence: row.fence };
    },
    /** False when it is no longer ours. */
    extend: async (): Promise<boolean> =>
      fence !== null && extendLease(rows, { _id: name, fence }, { now: clock.now(), leaseMs }),
    /** Gives it back, when it is ours, so that another need not wait for its end. */
    release: async (): Promise<void> => {
      if (fence !== null) await settle(rows, { _id: name, fence }, { dueAt: null });
      fence = null;
    },
  };
};

export type NamedLeaseOptions = { name: string; holder: string; leaseMs: number; clock: Clock };

/** Makes the lock's document when it is not there. */
const isNew = async (rows: Collection<Leasable>, name: string): Promise<boolean> => {
  const { upsertedCount } = await rows.updateOne({ _id: name }, { $setOnInsert: noWork }, { upsert: true });
  return upsertedCount === 1;
};
