import type { ConversationPlace, ConversationState } from "../../domain/conversations/conversation.ts";
import type { Counted } from "../../domain/conversations/tally.ts";
import type { OutboxEvent } from "../../schema/events/envelope.ts";
import { type CollectionSpec, longAgo } from "../mongo/collection.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import { type DueWork, dueIndex } from "../work/due.ts";
import { eraseConversations } from "./erasure.ts";
import type { ConversationMessageRow } from "./message-row.ts";

/** A conversation between an app and a person over one of the app's numbers. It is due when time may change it. */
export type ConversationRow = ConversationState &
  ConversationPlace &
  DueWork & {
    _id: string;
    tenant_id: string;
    app_id: string;
    /** Of the one that is going on between the two, or did last; absent once another one took its place. */
    place?: string;
    subscription_id: string;
    user_id: string;
    external_id: string | null;
    /** Of the assignee; `none` when it is nobody's. */
    assignee_id: string;
    /** Its tags, where it has some: the index of tags holds no others. */
    tag_keys?: string[] | null;
    last_message_id: string | null;
    /** Of mails: what the thread is about, and the Message-ID of the last one of the person. */
    subject?: string;
    last_mail_id?: string;
    /** Grows with every change: who changes it writes only what is as they read it. */
    seq: number;
    /** The messages that were counted last: they may not be among the messages yet. */
    appended: ConversationMessageRow[];
    /** Events of changes over REST and by time, until they are published. */
    outbox: OutboxEvent[];
    /** How long its person waited for the first answer. */
    first_response_ms?: number | null;
    /** Since when it is other than it was counted: core/storage/conversations/counts.ts. */
    uncounted_at?: Date | null;
    /** What of it is counted, as it was at a change of it. */
    counted?: Counted & { seq: number };
    /** Its person was deleted: nothing else is left of it, and it goes once it is no longer counted. */
    gone?: true;
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
    { key: { app_id: 1, user_id: 1, updated_at: -1, _id: -1 }, name: "person" },
    { key: { app_id: 1, subscription_id: 1 }, name: "subscription" },
    // lists, of which each has its members in the order of its page: core/storage/conversations/list.ts
    { key: { app_id: 1, status: 1, updated_at: -1, _id: -1 }, name: "status" },
    { key: { app_id: 1, assignee_id: 1, status: 1, updated_at: -1, _id: -1 }, name: "assignee_status" },
    { key: { app_id: 1, created_at: -1, _id: -1 }, name: "created" },
    {
      key: { app_id: 1, waiting_since: 1, _id: 1 },
      name: "waiting",
      partialFilterExpression: { waiting_since: { $gt: longAgo } },
    },
    {
      key: { app_id: 1, tag_keys: 1, updated_at: -1, _id: -1 },
      name: "tag",
      partialFilterExpression: { tag_keys: { $gt: "" } },
    },
    { key: { app_id: 1, contact_address: 1, updated_at: -1, _id: -1 }, name: "contact" },
    {
      key: { app_id: 1, uncounted_at: 1 },
      name: "uncounted",
      partialFilterExpression: { uncounted_at: { $gt: longAgo } },
    },
    changeIndex, // for warehouse exports: docs/decisions/0126
    dueIndex,
  ],
  former: ["list", "assignee"],
  owner: { kind: "user", member: "user_id" },
  appRemoval: { index: "person" },
  erasure: { erase: (db, person) => eraseConversations(db, person) },
  retention: { kept: "until its conversation is over for as long as the plan keeps: ./retention.ts" },
};
