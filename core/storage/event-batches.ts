import type { Db } from "mongodb";
import type { EventKind } from "../schema/event.ts";
import { type CollectionSpec, collectionOf } from "./collection.ts";
import { duplicatesOf, retryConflicts } from "./duplicate.ts";
import { dueIndex, type Wakeable } from "./wake.ts";

/** An event as its JSON: what a customer put into it needs no rules about names of members. */
export type StoredEvent = {
  id: string;
  type: EventKind;
  text: string;
  /** Its id follows from one that the sender chose: of all batches that bring it, the first one counts. */
  once: boolean;
};

/**
 * Events that follow from no document of their own: custom events, and facts about settings. Stored before anybody is
 * told that they were accepted, removed as soon as they are published.
 */
export type EventBatchRow = Wakeable & {
  _id: string;
  tenant_id: string;
  app_id: string;
  events: StoredEvent[];
  /** W3C trace context of the (first) request that brought them. */
  traceparent: string | null;
  created_at: Date;
};

/** Which batch brought an event first; `_id` is the event's. */
export type EventIdRow = { _id: string; batch_id: string; created_at: Date };

export const eventBatchCollection: CollectionSpec = { name: "event_batches", indexes: [dueIndex] };

const rememberedHours = 24; // decisions 11, "De-duplication"

export const eventIdCollection: CollectionSpec = {
  name: "event_ids",
  indexes: [{ key: { created_at: 1 }, name: "retention", expireAfterSeconds: rememberedHours * 3_600 }],
};

export type EventBatches = ReturnType<typeof eventBatches>;

export const eventBatches = (db: Db) => {
  const rows = collectionOf<EventBatchRow>(db, eventBatchCollection);
  const ids = collectionOf<EventIdRow>(db, eventIdCollection);
  return {
    rows,

    /** Stores batches. Their ids are new: one that exists was stored by this very call, whose answer was lost. */
    insert: async (made: readonly EventBatchRow[]): Promise<void> => {
      try {
        await rows.insertMany([...made], { ordered: false });
      } catch (error) {
        duplicatesOf(error, made);
      }
    },

    /** Has batches own the events that count once; returns the ids of those that another batch owns. */
    claim: async (batches: readonly EventBatchRow[]): Promise<Set<string>> => {
      const made = batches.flatMap(({ _id, events, created_at }) =>
        events.filter(({ once }) => once).map(({ id }) => ({ _id: id, batch_id: _id, created_at })),
      );
      if (made.length === 0) return new Set();
      made.sort((a, b) => (a._id < b._id ? -1 : 1)); // writers that meet wait for each other in one order
      try {
        await retryConflicts(() => ids.insertMany(made, { ordered: false }));
        return new Set();
      } catch (error) {
        const taken = [...duplicatesOf(error, made)];
        const own = new Set(batches.map(({ _id }) => _id));
        const owners = await ids.find({ _id: { $in: taken } }, { batchSize: taken.length + 1 }).toArray();
        return new Set(owners.filter(({ batch_id }) => !own.has(batch_id)).map(({ _id }) => _id));
      }
    },

    find: (id: string): Promise<EventBatchRow | null> => rows.findOne({ _id: id }),

    remove: async (batchIds: readonly string[]): Promise<void> => {
      await rows.deleteMany({ _id: { $in: [...batchIds] } });
    },
  };
};
