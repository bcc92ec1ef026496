import { isDeepStrictEqual } from "node:util";
import type { OutboxEvent } from "../../schema/events/envelope.ts";
import { customEvents } from "../../schema/events/people.ts";
import { showAs } from "../../schema/json/show.ts";
import { makeEvent } from "../events/make.ts";
import type { ConversationPlace, ConversationState } from "./conversation.ts";

/** Names of events of conversations. Source: docs/reference/callbacks.md#conversation-events. */
export type ConversationEventName =
  | "hs.conversation.opened"
  | "hs.conversation.updated"
  | "hs.conversation.assigned"
  | "hs.conversation.closed"
  | "hs.conversation.message_received"
  | "hs.conversation.message_failed";

/** Who changed a conversation. */
export type ConversationCause = "api_key" | "inbound" | "timer" | "provider";

/** A conversation as events tell of it. */
export type ToldConversation = ConversationState &
  ConversationPlace & {
    _id: string;
    app_id: string;
    user_id: string;
    external_id: string | null;
    subscription_id: string;
    seq: number;
    updated_at: Date;
  };

export type ConversationFacts = {
  conversation: ToldConversation;
  cause: ConversationCause;
  /** Of the change that it tells of. */
  seq: number;
  /** What its id follows from: made twice it has the same one. */
  from: readonly string[];
  at: Date;
  /** When it happened, where that was earlier. */
  occurredAt?: Date | undefined;
  more?: Record<string, unknown>;
};

/** An event of a conversation: one of the service's own names among custom events, without a definition. */
export const conversationEvent = (
  name: ConversationEventName,
  { conversation, cause, seq, from, at, occurredAt, more = {} }: ConversationFacts,
): OutboxEvent =>
  makeEvent({
    kind: "event.received",
    appId: conversation.app_id,
    subjectId: conversation.user_id,
    at,
    from: [...from, name],
    data: showAs(customEvents["event.received"].data, {
      user_id: conversation.user_id,
      external_id: conversation.external_id,
      subscription_id: conversation.subscription_id,
      name,
      properties: {
        conversation_id: conversation._id,
        channel: conversation.channel,
        contact_address: conversation.contact_address,
        contact_name: conversation.contact_name,
        sender_address: conversation.sender_address,
        handled_by: conversation.handled_by,
        unread_count: conversation.unread_count,
        cause,
        seq,
        ...more,
      },
      occurred_at: occurredAt ?? at,
      source: "api",
    }),
  });

/** What a change is told of by: members before and after. */
const told = [
  "status",
  "handled_by",
  "contact_name",
  "assignee",
  "priority",
  "tags",
  "custom_attributes",
  "unread_count",
  "message_count",
  "waiting_since",
  "snoozed_until",
] as const satisfies readonly (keyof ConversationState)[];

/** The event of a change; null when nothing of it is told. */
export const changeEvent = (
  before: ToldConversation,
  after: ToldConversation,
  cause: ConversationCause,
): OutboxEvent | null => {
  const changed = told.filter((member) => !isDeepStrictEqual(before[member], after[member]));
  if (changed.length === 0) return null;
  return conversationEvent(nameOf(changed, after), {
    conversation: after,
    cause,
    seq: after.seq,
    from: [after._id, String(after.seq)],
    at: after.updated_at,
    more: { changes: Object.fromEntries(changed.map((member) => [member, [before[member], after[member]]])) },
  });
};

const nameOf = (changed: readonly (typeof told)[number][], { status }: ToldConversation): ConversationEventName => {
  if (changed.includes("assignee")) return "hs.conversation.assigned";
  return changed.includes("status") && status === "closed" ? "hs.conversation.closed" : "hs.conversation.updated";
};
