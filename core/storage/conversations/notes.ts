import type { Db } from "mongodb";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import type { ConversationRow } from "./conversation-row.ts";
import { eraseOfPerson, personIndexes } from "./person.ts";

/** What somebody who answers has noted in a conversation, for the others who do. */
export type NoteRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  conversation_id: string;
  subscription_id: string;
  user_id: string;
  /** A ULID: it stands among the messages by this. */
  position: string;
  text: string;
  mentions: string[];
  author: { type: "api_key"; id: string };
  created_at: Date;
};

export const noteCollection: CollectionSpec = {
  name: "conversation_notes",
  indexes: [{ key: { conversation_id: 1, position: 1 }, name: "list" }, ...personIndexes],
  owner: { kind: "user", member: "user_id" },
  appRemoval: { index: "person" },
  erasure: { erase: (db, person) => eraseOfPerson(db, "conversation_notes", person) },
  retention: { kept: "until its conversation is over for as long as the plan keeps: ./retention.ts" },
};

export type Notes = ReturnType<typeof notes>;

export const notes = (db: Db) => {
  const rows = collectionOf<NoteRow>(db, noteCollection);
  return {
    /** False when it is there already. */
    add: (row: NoteRow): Promise<boolean> => insertNew(rows, row),

    find: ({ tenant_id }: Pick<ConversationRow, "tenant_id">, id: string): Promise<NoteRow | null> =>
      rows.findOne({ _id: id, tenant_id }),

    /** One page of a conversation's, in the order in which they were made. */
    page: (
      { _id, tenant_id }: Pick<ConversationRow, "_id" | "tenant_id">,
      { limit, ...place }: PagePlace & { limit: number },
    ): Promise<NoteRow[]> =>
      rows
        .find({ conversation_id: _id, position: pageRange(null, {}, place), tenant_id }, { hint: "list" })
        .sort({ position: place.isDescending ? -1 : 1 })
        .limit(limit)
        .toArray(),
  };
};
