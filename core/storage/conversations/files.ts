import type { Db } from "mongodb";
import { removeAll } from "../files/removal.ts";
import type { FileStore } from "../files/store.ts";
import type { Person } from "../mongo/collection.ts";
import { conversationCollection } from "./conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";
import { idsOfPerson, rowsOfPerson } from "./person.ts";

const messages = conversationMessageCollection.name;

/** The folder of a conversation's files. */
export const folderOf = (appId: string, conversationId: string): string => `conversations/${appId}/${conversationId}/`;

/** The folder of a mail's files, which are stored before anybody knows its conversation. */
export const mailFolderOf = (appId: string, messageId: string): string => `conversations/${appId}/${messageId}/`;

/**
 * Removes the files of somebody's conversations, before these themselves. May be done twice.
 * @throws Unavailable, and the signal's reason
 */
export const removeFilesOfPerson =
  (db: Db, files: Pick<FileStore, "kind" | "removeOld">) =>
  async (
    person: Pick<Person, "tenantId" | "appId" | "userId" | "keys">,
    now: Date,
    signal: AbortSignal,
  ): Promise<void> => {
    if (files.kind === "none") return;
    for (const id of await idsOfPerson(db, conversationCollection.name, person))
      await removeAll(files, folderOf(person.appId, id), now, signal);
    for await (const { _id, media = [] } of rowsOfPerson<ConversationMessageRow>(db, messages, person)) {
      const folder = mailFolderOf(person.appId, _id);
      if (media.some(({ key }) => key?.startsWith(folder))) await removeAll(files, folder, now, signal);
    }
  };
