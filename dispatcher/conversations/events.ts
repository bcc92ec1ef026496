import { makeEvent } from "#core/domain/events/make.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { customEvents } from "#core/schema/events/people.ts";
import { showAs } from "#core/schema/json/show.ts";
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
  const moved = was === undefined || was === null ? [] : [["hs.conversation.updated", changesOf(was)] as const];
  return [
    ...(was === null ? [event("hs.conversation.opened", { message, conversation })] : []),
    ...moved.map(([name, changes]) => event(name, { message, conversation, more: { changes } })),
    ...(message.type === "system"
      ? []
      : [event("hs.conversation.message_received", { message, conversation, more: { message: shown(message) } })]),
  ];
};

const changesOf = (was: string) => ({ status: [was, "open"] });

type About = { message: ConversationMessageRow; conversation: ConversationRow; more?: Record<string, unknown> };

const event = (name: string, { message, conversation, more = {} }: About): EventEnvelope =>
  makeEvent({
    kind: "event.received",
    appId: message.app_id,
    subjectId: conversation.user_id,
    at: message.created_at,
    from: [message._id, name],
    data: showAs(customEvents["event.received"].data, {
      user_id: conversation.user_id,
      external_id: conversation.external_id,
      subscription_id: message.subscription_id,
      name,
      properties: {
        conversation_id: conversation._id,
        channel: conversation.channel,
        contact_address: conversation.contact_address,
        contact_name: conversation.contact_name,
        sender_address: conversation.sender_address,
        handled_by: conversation.handled_by,
        unread_count: conversation.unread_count,
        cause: "inbound",
        seq: message.seq,
        ...more,
      },
      occurred_at: message.sent_at ?? message.created_at,
      source: "api",
    }),
  });

const shown = ({ _id, type, sent_at, ...message }: ConversationMessageRow): Record<string, unknown> => ({
  id: _id,
  type,
  text: message.text ?? null,
  button: message.button ?? null,
  location: message.location ?? null,
  contacts: message.contacts ?? null,
  reaction: message.reaction ?? null,
  order: message.order ?? null,
  media: (message.media ?? []).map(({ type: kind, filename, mime_type }) => ({ type: kind, filename, mime_type })),
  reply_to_id: message.reply_to_id ?? null,
  sent_at: (sent_at ?? message.created_at).toISOString(),
});
