import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { collectionOf } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { type Leasable, leaseCollection } from "./leases.ts";

/** Who takes leases, unique to a process, and how long each lasts. */
export type HeldLeasesOptions = { holder: string; leaseMs: number; clock: Clock };

export type HeldLeases = ReturnType<typeof heldLeases>;

/** Locks of the whole installation, by name, as one holder sees them. However many it names, they are one command or few. */
export const heldLeases = (db: Db, { holder, leaseMs, clock }: HeldLeasesOptions) => {
  const rows = collectionOf<Leasable>(db, leaseCollection);
  const held = () => {
    const until = new Date(clock.now().getTime() + leaseMs);
    return { lease: { holder, until }, due_at: until };
  };
  const find = (names: readonly string[]) =>
    rows.find(these(names), { projection: { lease: 1 }, batchSize: names.length + 1 }).toArray();
  /** Those that were not there are its own. */
  const makeMissing = async (names: readonly string[], found: readonly Pick<Leasable, "_id">[]): Promise<string[]> => {
    const there = new Set(found.map(({ _id: name }) => name));
    const missing = names.filter((name) => !there.has(name));
    if (missing.length === 0) return [];
    const made = missing.map((name) => ({ _id: name, fence: 1, ...held() }));
    const others = await insertMissing(rows, made);
    return missing.filter((name) => !others.has(name));
  };
  return {
    /** Takes those that are free, expired or its own already; gives the names of these. */
    take: async (names: readonly string[]): Promise<string[]> => {
      const isFree = [{ lease: null }, { "lease.until": { $lte: clock.now() } }, { "lease.holder": holder }];
      const taken = { $set: held(), $inc: { fence: 1 } };
      await retryConflicts(() => rows.updateMany({ ...these(names), $or: isFree }, taken));
      const found = await find(names);
      const own = found.flatMap(({ _id: name, lease }) => (lease?.holder === holder ? [name] : []));
      return [...own, ...(await makeMissing(names, found))];
    },
    /** True when it still has all of them; else some may be extended. */
    extend: async (names: readonly string[]): Promise<boolean> => {
      const { lease, due_at } = held();
      const change = { $set: { "lease.until": lease.until, due_at } };
      const { matchedCount } = await rows.updateMany({ ...these(names), "lease.holder": holder }, change);
      return matchedCount === names.length;
    },
    /** Whose they are and when they are free if their holder does nothing; those that nobody has are left out. */
    look: async (names: readonly string[]): Promise<Map<string, { isOwn: boolean; until: Date }>> =>
      new Map(
        (await find(names)).flatMap(({ _id: name, lease }) =>
          lease === null ? [] : [[name, { isOwn: lease.holder === holder, until: lease.until }] as const],
        ),
      ),
    /** Gives back those that are its own, so that others need not wait for their end. */
    release: async (names: readonly string[]): Promise<void> => {
      await rows.updateMany({ ...these(names), "lease.holder": holder }, { $set: { lease: null, due_at: null } });
    },
  };
};

const these = (names: readonly string[]) => ({ _id: { $in: [...names] } });
