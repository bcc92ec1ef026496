import type { Db } from "mongodb";
import { removeAll } from "../files/removal.ts";
import type { FileStore } from "../files/store.ts";
import { collectionOf, longAgo, type OfApp } from "../mongo/collection.ts";
import { type ConversationRow, conversationCollection } from "./conversation-row.ts";
import { conversationCounts } from "./counts.ts";
import { goneOf } from "./erasure.ts";
import { folderOf, mailFolderOf } from "./files.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";
import { type NoteRow, noteCollection } from "./notes.ts";

export type ConversationRetention = ReturnType<typeof conversationRetention>;

const page = 100; // conversations of one call, whose files are asked for one after another

/** Removes conversations that are over for longer than they are kept. */
export const conversationRetention = (db: Db, files: Pick<FileStore, "kind" | "removeOld">) => {
  const rows = collectionOf<ConversationRow>(db, conversationCollection);
  const messages = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  const notes = collectionOf<NoteRow>(db, noteCollection);
  const removeFiles = async (
    { _id, app_id: appId }: ConversationRow,
    now: Date,
    signal: AbortSignal,
  ): Promise<void> => {
    await removeAll(files, folderOf(appId, _id), now, signal);
    const withFiles = messages.find(
      { conversation_id: _id, position: { $gt: "" } },
      { projection: { media: 1 }, hint: "list" },
    );
    for await (const { _id: id, media = [] } of withFiles) {
      const folder = mailFolderOf(appId, id);
      if (media.some(({ key }) => key?.startsWith(folder))) await removeAll(files, folder, now, signal);
    }
  };
  return {
    /**
     * Removes closed conversations of an app that nothing has changed since an instant, with their files, messages and notes: a page of
     * them, the oldest first; gives how many. One that somebody writes in at this moment stays, without its messages of before.
     * May be done twice. @throws Unavailable, and the signal's reason
     */
    removeOldest: async ({ tenantId, appId }: OfApp, before: Date, now: Date, signal: AbortSignal): Promise<number> => {
      const old = await rows
        .find({ app_id: appId, status: "closed", updated_at: { $gt: longAgo, $lt: before } }, { hint: "status" })
        .sort({ updated_at: 1 })
        .limit(page)
        .toArray();
      for (const row of old) {
        signal.throwIfAborted();
        await removeFiles(row, now, signal);
        await messages.deleteMany({ conversation_id: row._id });
        await notes.deleteMany({ conversation_id: row._id });
        await goneOf(db, row, now);
      }
      if (old.length > 0) await conversationCounts(db).touch({ tenantId, appId }, now);
      return old.length;
    },
  };
};
