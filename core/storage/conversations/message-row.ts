import type { InboundContent, InboundMedia } from "../../channels/kit/inbound.ts";
import type { ConversationStatus } from "../../domain/conversations/conversation.ts";
import type { MediaProblem } from "../../domain/conversations/media.ts";
import type { CreateConversationMessage } from "../../schema/conversations/message.ts";
import type { CollectionSpec } from "../mongo/collection.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import { type DueWork, dueIndex } from "../work/due.ts";
import { eraseOfPerson, personIndexes } from "./person.ts";

/** A file of a message: where it is kept, or why it is not. */
export type MediaRow = Pick<InboundMedia, "type" | "filename"> & {
  mime_type: string | null;
  /** `waiting`: it is still to be fetched from its provider. */
  status: "waiting" | "stored" | "failed";
  problem?: MediaProblem;
  /** Where its provider has it, as long as it is waiting. */
  source?: Pick<InboundMedia, "url" | "id">;
  /** The key of its file, once it is stored. */
  key?: string;
  /** The address that a reply names it by: nothing of it is kept here. */
  link?: string;
  size_bytes?: number;
  sha256?: string;
};

/**
 * A message of a conversation. Members without a value are left out of the document; one is due while files of it are to be
 * fetched.
 */
export type ConversationMessageRow = Partial<DueWork> & {
  _id: string;
  tenant_id: string;
  app_id: string;
  conversation_id: string;
  subscription_id: string;
  user_id: string;
  /** A ULID: the order of the list, growing with the time of writing. */
  position: string;
  direction: "inbound" | "outbound";
  type: InboundContent["type"] | "template" | "interactive" | "system";
  text?: string;
  /** Of mails: what it is about, its body as HTML, what it repeats of those before it, and who else got it. */
  subject?: string;
  html?: string;
  quoted_text?: string;
  cc?: string[];
  /** What its text is searched by: core/domain/conversations/words.ts. */
  words?: string[];
  media?: MediaRow[];
  button?: NonNullable<InboundContent["button"]>;
  location?: NonNullable<InboundContent["location"]>;
  contacts?: NonNullable<InboundContent["contacts"]>;
  reaction?: NonNullable<InboundContent["reaction"]>;
  order?: NonNullable<InboundContent["order"]>;
  template?: NonNullable<CreateConversationMessage["whatsapp_template"]>;
  interactive?: NonNullable<CreateConversationMessage["whatsapp_interactive"]>;
  /** The stored template that says what a reply says. */
  template_id?: string;
  /** The message, or the delivery of a notification, that it answers. */
  reply_to_id?: string;
  /** The notification that a reply was sent as: what became of it is in its delivery. */
  message_id?: string;
  /** That notification was never accepted: whoever asked for it was cut off. */
  unsent?: true;
  author: { type: "contact" | "api_key" | "system"; id: string | null };
  provider?: string;
  /** The provider's id of it, as it is kept: docs/decisions/0066. */
  provider_message_id?: string;
  /** The id as the provider knows it, where the one above is its hash: Meta is told it in replies. Goes with the person. */
  provider_raw_id?: string;
  /** The number of the change of its conversation that it came with. */
  seq: number;
  /** What its coming changed: the conversation began with it (null), or was of another status before. */
  was?: ConversationStatus | null;
  /** When a person sent it. */
  sent_at?: Date;
  created_at: Date;
  /** When it was stored, or changed last; absent of a former release. */
  updated_at?: Date;
};

export const conversationMessageCollection: CollectionSpec = {
  name: "conversation_messages",
  indexes: [
    { key: { conversation_id: 1, position: 1 }, name: "list" },
    { key: { app_id: 1, words: 1 }, name: "words", partialFilterExpression: { words: { $gt: "" } } },
    ...personIndexes,
    changeIndex, // for warehouse exports: docs/decisions/0126
    dueIndex,
  ],
  former: ["provider_message"],
  owner: { kind: "user", member: "user_id" },
  appRemoval: { index: "person" }, // their files: dispatcher/jobs/removals.ts
  erasure: { erase: (db, person) => eraseOfPerson(db, "conversation_messages", person) },
  retention: { kept: "until its conversation is over for as long as the plan keeps: ./retention.ts" },
};
