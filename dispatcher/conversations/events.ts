import { type ConversationEventName, conversationEvent } from "#core/domain/conversations/events.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";

/**
 * The events of messages of people: each message has one, and one more where a conversation began or was opened again by it.
 * Made again they have the same ids. Source: docs/reference/callbacks.md#conversation-events.
 */
export const receivedEvents = (
  messages: readonly ConversationMessageRow[],
  conversations: ReadonlyMap<string, ConversationRow>,
): EventEnvelope[] =>
  messages.flatMap((message) => {
    const conversation = conversations.get(message.conversation_id);
    return conversation === undefined ? [] : eventsOf(message, conversation);
  });

const eventsOf = (message: ConversationMessageRow, conversation: ConversationRow): EventEnvelope[] => {
  const { was } = message;
  const about = (name: ConversationEventName, more: Record<string, unknown> = {}): EventEnvelope =>
    conversationEvent(name, {
      conversation,
      cause: "inbound",
      seq: message.seq,
      from: [message._id],
      at: message.created_at,
      occurredAt: message.sent_at,
      more,
    });
  const changes = { status: [was, "open"] };
  return [
    ...(was === null ? [about("hs.conversation.opened")] : []),
    ...(was === undefined || was === null ? [] : [about("hs.conversation.updated", { changes })]),
    ...(message.type === "system" ? [] : [about("hs.conversation.message_received", { message: shown(message) })]),
  ];
};

const shown = ({ _id, type, sent_at, ...message }: ConversationMessageRow): Record<string, unknown> => ({
  id: _id,
  type,
  text: message.text ?? null,
  ...(message.subject !== undefined && { subject: message.subject }),
  button: message.button ?? null,
  location: message.location ?? null,
  contacts: message.contacts ?? null,
  reaction: message.reaction ?? null,
  order: message.order ?? null,
  media: (message.media ?? []).map(({ type: kind, filename, mime_type }) => ({ type: kind, filename, mime_type })),
  reply_to_id: message.reply_to_id ?? null,
  sent_at: (sent_at ?? message.created_at).toISOString(),
});
