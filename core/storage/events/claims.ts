import type { Db } from "mongodb";
import { newId } from "../../domain/ids.ts";
import { collectionOf } from "../mongo/collection.ts";
import { duplicatesOf, inLockOrder, retryConflicts } from "../mongo/duplicate.ts";
import type { EventBatchRow, EventIdRow } from "./batch-row.ts";
import { eventBatchCollection } from "./batches.ts";

/** An event that counts once in a day. */
export type OnceEvent = { once: string; id: string; timestamp: string };

/** The event that an id stands for; `stored`: it was stored in a batch, from which it is published. */
export type FirstEvent = { id: string; timestamp: string } | "stored";

export type EventClaims = ReturnType<typeof eventClaims>;

export const eventClaims = (db: Db) => {
  const ids = collectionOf<EventIdRow>(db, eventBatchCollection);

  /** Writes claims of one batch; gives those of others that were there. */
  const write = async (made: readonly EventIdRow[]): Promise<EventIdRow[]> => {
    if (made.length === 0) return [];
    const inOrder = inLockOrder(made, ({ _id }) => _id);
    try {
      await retryConflicts(() => ids.insertMany(inOrder, { ordered: false }));
      return [];
    } catch (error) {
      const taken = [...duplicatesOf(error, inOrder)];
      const owners = await ids.find({ _id: { $in: taken } }, { batchSize: taken.length + 1 }).toArray();
      return owners.filter(({ batch_id: id }) => id !== made[0]?.batch_id); // else its write was repeated
    }
  };

  return {
    /** Claims the ids of events, each id once; gives by `once` the events that had theirs before. */
    claim: async (events: readonly OnceEvent[]): Promise<Map<string, FirstEvent>> => {
      const batch_id = newId("eventBatch", new Date());
      const others = await write(
        events.map(({ once, id: event_id, timestamp }) => ({
          _id: once,
          batch_id,
          event_id,
          claimed_at: new Date(timestamp),
        })),
      );
      return new Map(others.map((row) => [row._id, firstOf(row)]));
    },

    /** Claims the ids of a batch that the last release stored; gives the events of it that others had before. */
    claimBatch: async ({ _id, events, created_at: claimed_at }: EventBatchRow): Promise<Set<string>> => {
      const once = events.flatMap((event) => (event.once === false ? [] : [{ id: event.id, once: event.once }]));
      const others = await write(once.map((event) => ({ _id: event.once, batch_id: _id, claimed_at })));
      const lost = new Set(others.map((row) => row._id));
      return new Set(once.filter((event) => lost.has(event.once)).map(({ id }) => id));
    },
  };
};

const firstOf = ({ event_id: id, is_stored: isStored, claimed_at: at }: EventIdRow): FirstEvent =>
  id === undefined || isStored === true ? "stored" : { id, timestamp: at.toISOString() };
