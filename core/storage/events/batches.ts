import type { Collection, Db } from "mongodb";
import { auditLog } from "../audit/audit-log.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo } from "../mongo/collection.ts";
import { duplicatesOf, retryConflicts } from "../mongo/duplicate.ts";
import { dueIndex, turnIndex } from "../work/due.ts";
import { changeWasMade } from "../work/intended-changes.ts";
import type { EventBatchRow, StoredEvent } from "./batch-row.ts";
import { eraseBatches } from "./erasure.ts";

/** Which batch had an event first; `_id` is its `once`. */
export type EventIdRow = { _id: string; batch_id: string; claimed_at: Date };

const rememberedHours = 24; // docs/reference/events.md#duplicates

const mostTenants = 50_000;

/** Both kinds of documents are in one collection, so that one command writes a batch and claims its events. */
export const eventBatchCollection: CollectionSpec = {
  name: "event_batches",
  indexes: [
    dueIndex,
    turnIndex,
    { key: { claimed_at: 1 }, name: "remembered", expireAfterSeconds: rememberedHours * 3_600 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { kept: "events are published, and removed, as soon as they can be" },
  erasure: { erase: (db, person) => eraseBatches(collectionOf(db, eventBatchCollection), person) },
  retention: { index: "remembered" },
};

/** A batch as it was seen, and when it is due again should whoever takes it be killed. */
export type TakeBatch = { dueAt: Date; until: Date };

export type EventBatches = ReturnType<typeof eventBatches>;

export const eventBatches = (db: Db) => {
  const rows = collectionOf<EventBatchRow>(db, eventBatchCollection);
  const ids = collectionOf<EventIdRow>(db, eventBatchCollection);
  const wasMade = changeWasMade(db);
  const log = auditLog(db);

  /** Writes batches and the claims of others; returns the ids of claimed events that belong to neither. */
  const write = async (stored: readonly EventBatchRow[], claimants: readonly EventBatchRow[]): Promise<Set<string>> => {
    const made = [...stored, ...claimants.flatMap(claimsOf)];
    if (made.length === 0) return new Set();
    try {
      // A batch comes before its claims: the server stores them in this order, and a crash between is made good.
      await retryConflicts(() => ids.insertMany(made as EventIdRow[], { ordered: false })); // sound: it only passes them on
      return new Set();
    } catch (error) {
      const own = new Set(claimants.map(({ _id }) => _id));
      const taken = [...duplicatesOf(error, made)].filter((id) => !own.has(id)); // a batch: its write was repeated
      const owners = await ids.find({ _id: { $in: taken } }, { batchSize: taken.length + 1 }).toArray();
      const lost = new Set(owners.filter(({ batch_id }) => !own.has(batch_id)).map(({ _id }) => _id));
      return new Set(claimants.flatMap(({ events }) => events.filter(isIn(lost))).map(({ id }) => id));
    }
  };

  return {
    /** Stores batches and has them own the events that count once; returns the ids of those that another batch owns. */
    insert: (made: readonly EventBatchRow[]): Promise<Set<string>> => write(made, made),

    /** The same for a batch that is stored. */
    claim: (batch: EventBatchRow): Promise<Set<string>> => write([], [batch]),

    ...takes(rows),

    /** Whether the change that the events of a batch report was made. */
    isTrue: async ({ _id, change }: EventBatchRow): Promise<boolean> => change === undefined || wasMade(_id, change),

    /** Says that the change was made, whatever becomes of its document later. */
    confirm: async (id: string): Promise<void> => {
      await rows.updateOne({ _id: id }, { $unset: { change: 1 } });
    },

    /** The same, and has a dispatcher publish them now. */
    hasten: async (id: string, now: Date): Promise<void> => {
      await rows.updateOne({ _id: id }, { $unset: { change: 1 }, $set: { due_at: now } });
    },

    /** Keeps what the audit log gets to know of the change of a batch; may be repeated. */
    keepAudit: ({ audit = [] }: Pick<EventBatchRow, "audit">): Promise<void> => log.add(audit),

    /** Bytes of the events that wait here to be published, by tenant. */
    waiting: () => waitingIn(rows),

    remove: async (batchIds: readonly string[]): Promise<void> => {
      await rows.deleteMany({ _id: { $in: [...batchIds] } });
    },
  };
};

const isIn =
  (claims: ReadonlySet<string>) =>
  ({ once }: StoredEvent): boolean =>
    once !== false && claims.has(once);

/** In one order, so that writers who meet wait for each other and not in a circle. */
const claimsOf = ({ _id, events, created_at }: EventBatchRow): EventIdRow[] =>
  events
    .flatMap(({ once }) => (once === false ? [] : [{ _id: once, batch_id: _id, claimed_at: created_at }]))
    .sort((a, b) => (a._id < b._id ? -1 : 1));

const waitingIn = async (rows: Collection<EventBatchRow>): Promise<Map<string, number>> => {
  const waiting = { due_at: { $gt: longAgo, $lte: farAhead } };
  const byTenant = { _id: "$tenant_id", bytes: { $sum: "$bytes" } };
  const found = await rows
    .aggregate<{ _id: string; bytes: number }>([{ $match: waiting }, { $group: byTenant }], {
      hint: "due",
      batchSize: mostTenants,
    })
    .toArray();
  return new Map(found.map(({ _id, bytes }) => [_id, bytes]));
};

const takes = (rows: Collection<EventBatchRow>) => ({
  /** Takes a batch that was due, so that no other process has it until then; null when another took it, or it is gone. */
  take: (id: string, { dueAt, until }: TakeBatch): Promise<EventBatchRow | null> =>
    rows.findOneAndUpdate({ _id: id, due_at: dueAt }, { $set: { due_at: until } }, { returnDocument: "after" }),

  /** Has a batch that was taken due as it was. */
  giveBack: async (id: string, { dueAt, until }: TakeBatch): Promise<void> => {
    await rows.updateOne({ _id: id, due_at: until }, { $set: { due_at: dueAt } });
  },
});
