import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inLockOrder, insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";
import { type ConversationRow, conversationCollection } from "./conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";

export type Arrivals = ReturnType<typeof arrivals>;

/** A conversation as it was read, and what it becomes: of the same place. */
export type ChangedConversation = { read: ConversationRow; after: ConversationRow };

const page = 500; // in one filter

/**
 * What messages of people read and write, many in one command. A message is counted in its conversation first, which keeps it
 * as `appended`, then stored by itself: whatever was counted is in one of the two, so that nothing is counted twice or lost.
 */
export const arrivals = (db: Db, clock: Clock) => {
  const conversations = collectionOf<ConversationRow>(db, conversationCollection);
  const messages = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  return {
    /** The conversations that are at these places. */
    at: ({ tenantId, appId }: OfApp, places: readonly string[]): Promise<ConversationRow[]> =>
      inPages(places, page, (some) =>
        conversations
          .find(
            { app_id: appId, place: { $gt: "", $in: some }, tenant_id: tenantId },
            { hint: "place", batchSize: some.length + 1 },
          )
          .toArray(),
      ),

    /** Messages of these ids that are stored. To be asked after their conversations were read. */
    stored: (ids: readonly string[]): Promise<ConversationMessageRow[]> =>
      inPages(ids, page, (some) => messages.find({ _id: { $in: some } }, { batchSize: some.length + 1 }).toArray()),

    /** Stores new conversations; gives the ids of those whose place is taken: by another, or by these if a try was made again. */
    open: (made: readonly ConversationRow[]): Promise<ReadonlySet<string>> =>
      made.length === 0 ? Promise.resolve(new Set()) : retryConflicts(() => insertMissing(conversations, made)),

    /** Changes conversations; false when one is no longer as it was read: some are changed then, or all. */
    change: async (changes: readonly ChangedConversation[]): Promise<boolean> => {
      if (changes.length === 0) return true;
      const writes = inLockOrder(changes, ({ read }) => read._id).map(({ read, after }) => ({
        updateOne: { filter: { _id: read._id, seq: read.seq }, update: { $set: changedOf(read, after) } },
      }));
      const { matchedCount } = await retryConflicts(() => conversations.bulkWrite(writes, { ordered: false }));
      return matchedCount === changes.length;
    },

    /** Takes a closed conversation from its place, unless it was changed meanwhile. */
    leave: async (read: readonly ConversationRow[]): Promise<void> => {
      const writes = inLockOrder(read, ({ _id }) => _id).map(({ _id, seq }) => ({
        updateOne: { filter: { _id, seq }, update: { $unset: { place: "" as const }, $set: { seq: seq + 1 } } },
      }));
      if (writes.length > 0) await retryConflicts(() => conversations.bulkWrite(writes, { ordered: false }));
    },

    /** Stores messages that are not there yet: some that an earlier writer counted, and did not come to store. */
    keep: async (made: readonly ConversationMessageRow[]): Promise<void> => {
      if (made.length === 0) return;
      const stored = made.map((row) => ({ ...row, updated_at: clock.now() }));
      await retryConflicts(() => insertMissing(messages, stored));
    },
  };
};

const changedOf = (read: ConversationRow, after: ConversationRow): Partial<ConversationRow> =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => Reflect.get(read, name) !== value));
