import type { ConversationPlace, ConversationState } from "../../domain/conversations/conversation.ts";
import type { CollectionSpec } from "../mongo/collection.ts";
import type { ConversationMessageRow } from "./message-row.ts";
import { eraseOfPerson, personIndexes } from "./person.ts";

/** A conversation between an app and a person over one of the app's numbers. */
export type ConversationRow = ConversationState &
  ConversationPlace & {
    _id: string;
    tenant_id: string;
    app_id: string;
    /** Of the one that is going on between the two, or did last; absent once another one took its place. */
    place?: string;
    subscription_id: string;
    user_id: string;
    external_id: string | null;
    last_message_id: string | null;
    /** Grows with every change: who changes it writes only what is as they read it. */
    seq: number;
    /** The messages that were counted last: they may not be among the messages yet. */
    appended: ConversationMessageRow[];
    created_at: Date;
    updated_at: Date;
  };

export const conversationCollection: CollectionSpec = {
  name: "conversations",
  indexes: [
    {
      key: { app_id: 1, place: 1 },
      name: "place",
      unique: true,
      partialFilterExpression: { place: { $gt: "" } },
    },
    ...personIndexes,
  ],
  owner: { kind: "user", member: "user_id" },
  appRemoval: { index: "person" },
  erasure: { erase: (db, person) => eraseOfPerson(db, "conversations", person) },
  retention: { kept: "until its person is deleted" },
};
