import type { Db } from "mongodb";
import { removeAll } from "../files/removal.ts";
import type { FileStore } from "../files/store.ts";
import type { Person } from "../mongo/collection.ts";
import { conversationCollection } from "./conversation-row.ts";
import { idsOfPerson } from "./person.ts";

/** The folder of a conversation's files. */
export const folderOf = (appId: string, conversationId: string): string => `conversations/${appId}/${conversationId}/`;

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
  };
