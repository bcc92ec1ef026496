import type { Db } from "mongodb";
import type { Clock } from "../../domain/clock.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { arrivals } from "./arrivals.ts";
import { type ConversationRow, conversationCollection } from "./conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";

export type Conversations = ReturnType<typeof conversations>;

/** Conversations as the REST interface reads and changes them. */
export const conversations = (db: Db, clock: Clock) => {
  const rows = collectionOf<ConversationRow>(db, conversationCollection);
  const messages = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  const { change, keep, stored } = arrivals(db, clock);
  return {
    find: ({ tenantId, appId }: OfApp, id: string): Promise<ConversationRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId, gone: { $ne: true } }),

    /** Messages of these ids. */
    messagesOf: stored,

    /** Changes one, and stores the messages that it came to have; false when it is no longer as it was read. */
    put: async (read: ConversationRow, after: ConversationRow): Promise<boolean> => {
      if (after.appended !== read.appended) await keep(read.appended); // they may not be stored yet
      if (!(await change([{ read, after }]))) return false;
      if (after.appended !== read.appended) await keep(after.appended);
      return true;
    },

    /** Has one looked at then, unless it was changed meanwhile. */
    lookAgain: async ({ _id, seq }: Pick<ConversationRow, "_id" | "seq">, dueAt: Date | null): Promise<void> => {
      await rows.updateOne({ _id, seq, outbox: { $size: 0 } }, { $set: { due_at: dueAt } });
    },

    /** Says of replies that they were never accepted; those that are not stored are. */
    failUnsent: async (unsent: readonly ConversationMessageRow[]): Promise<void> => {
      await keep(unsent);
      const ids = unsent.map(({ _id }) => _id);
      await messages.updateMany({ _id: { $in: ids } }, { $set: { unsent: true, updated_at: clock.now() } });
    },

    /** Stores the messages that a conversation came to have last, where whoever changed it was cut off before that. */
    keepLast: ({ appended }: Pick<ConversationRow, "appended">): Promise<void> => keep(appended),
  };
};
