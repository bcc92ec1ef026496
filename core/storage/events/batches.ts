import type { Collection, Db } from "mongodb";
import { newId } from "../../domain/ids.ts";
import { auditLog } from "../audit/audit-log.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { dueIndex, turnIndex } from "../work/due.ts";
import { changeWasMade } from "../work/intended-changes.ts";
import type { EventBatchRow, EventIdRow } from "./batch-row.ts";
import { eraseBatches } from "./erasure.ts";

const rememberedHours = 24; // docs/reference/events.md#duplicates

const mostTenants = 50_000;

/** Batches, and the claims of ids (claims.ts), which the last release wrote with one command. */
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

/** Until when batches were due as they were seen, and when they are due again should whoever takes them be killed. */
export type TakeBatches = { dueBy: Date; until: Date };

export type EventBatches = ReturnType<typeof eventBatches>;

export const eventBatches = (db: Db) => {
  const rows = collectionOf<EventBatchRow>(db, eventBatchCollection);
  const claims = collectionOf<EventIdRow>(db, eventBatchCollection);
  const wasMade = changeWasMade(db);
  const log = auditLog(db);
  return {
    /** Stores batches, those that are stored already stay as they are; then says so at the claims of their events. */
    insert: async (made: readonly EventBatchRow[]): Promise<void> => {
      if (made.length > 0) await retryConflicts(() => insertMissing(rows, made.map(withoutIds)));
      const claimed = made.flatMap(({ events }) => events.flatMap(({ once }) => (once === false ? [] : [once])));
      if (claimed.length > 0) await claims.updateMany({ _id: { $in: claimed } }, { $set: { is_stored: true } });
    },

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

const withoutIds = (row: EventBatchRow): EventBatchRow => ({
  ...row,
  events: row.events.map((event) => ({ ...event, once: false })),
});

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
  /** Takes batches that were due, so that no other process has them until then; without those that another took, or that are gone. */
  take: async (ids: readonly string[], { dueBy, until }: TakeBatches): Promise<EventBatchRow[]> => {
    const holder = newId("eventBatch", until); // names this take
    const wereDue = { _id: { $in: [...ids] }, due_at: { $gt: longAgo, $lte: dueBy } };
    await rows.updateMany(wereDue, { $set: { due_at: until, lease: { holder, until } } });
    const taken = { _id: { $in: [...ids] }, "lease.holder": holder };
    return rows
      .find(taken, { batchSize: ids.length + 1 })
      .sort({ _id: 1 })
      .toArray();
  },

  /** Has batches that were taken due as they were. */
  giveBack: async (ids: readonly string[], { dueBy, until }: TakeBatches): Promise<void> => {
    await rows.updateMany({ _id: { $in: [...ids] }, due_at: until }, { $set: { due_at: dueBy, lease: null } });
  },
});
