import type { Collection, Db, Filter } from "mongodb";
import type { Log } from "#core/runtime/process/log.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/mongo/collection.ts";
import { type Managed, type ManagedRow, orphans, stampEpoch } from "#core/storage/settings/managed.ts";
import { allKinds } from "./kinds/all.ts";
import type { Announce } from "./records/platform.ts";

export type Terms = ReturnType<typeof terms>;

/** What a leader's term does to all managed documents (docs/decisions/0051). */
export const terms = ({ db, announce, log }: { db: Db; announce: Announce; log: Log }) => {
  const rowsOf = (spec: CollectionSpec) => collectionOf<ManagedRow>(db, spec);

  const highestOf = async (spec: CollectionSpec): Promise<number> => {
    const options = { sort: { "managed.epoch": -1 }, projection: { managed: 1 } } as const;
    const row = await rowsOf(spec).findOne({ "managed.epoch": { $gt: 0 } }, options);
    return row?.managed?.epoch ?? 0;
  };

  const sweepOne = async (spec: CollectionSpec, epoch: number, { isKnown, isLookedAt }: Seen): Promise<void> => {
    const rows = rowsOf(spec);
    for (const { id, managed: by, appId } of await orphans(rows, isKnown)) {
      const { kind, namespace, name, uid } = by;
      if (!isLookedAt(namespace)) continue;
      const isLate = by.epoch < epoch; // everything that was there when the term began bears its epoch
      const mine = { _id: id, "managed.uid": uid, "managed.epoch": by.epoch };
      const undone = isLate ? await undo(rows, mine, by) : null;
      if (undone !== null) announce(spec.name, id, appId);
      log.warn({ kind, namespace, name, id }, undone ?? "row.orphaned");
    }
  };

  return {
    /** The highest epoch of any document; 0 when there is none. */
    highestEpoch: async (): Promise<number> => Math.max(...(await each(highestOf))),
    /** Gives every managed document the epoch of this term. */
    stamp: async (epoch: number): Promise<void> => void (await each((spec) => stampEpoch(rowsOf(spec), epoch))),
    /**
     * Undoes what a deposed leader wrote for a resource that is gone: removes what it inserted, releases what it took
     * over. Logs other documents without a resource.
     */
    sweep: async (epoch: number, seen: Seen): Promise<void> => void (await each((spec) => sweepOne(spec, epoch, seen))),
  };
};

/** Which resources there are, by their uid, in the namespaces that are looked at; null is that of those without one. */
type Seen = { isKnown: (uid: string) => boolean; isLookedAt: (namespace: string | null) => boolean };

const each = <T>(act: (spec: CollectionSpec) => Promise<T>): Promise<T[]> =>
  Promise.all(allKinds.map(({ collection }) => act(collection)));

/** Undoes what made a document managed, and says how; null when the document has changed since it was found. */
const undo = async (
  rows: Collection<ManagedRow>,
  mine: Filter<ManagedRow>,
  { adopted }: Managed,
): Promise<"row.released" | "row.removed" | null> => {
  if (!adopted) return (await rows.deleteOne(mine)).deletedCount === 1 ? "row.removed" : null;
  const { matchedCount } = await rows.updateOne(mine, { $set: { managed: null, updated_at: new Date() } });
  return matchedCount === 1 ? "row.released" : null;
};
