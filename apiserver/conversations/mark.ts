import { invalid } from "#core/errors.ts";
import type { ReadConversation } from "#core/schema/conversations/conversation.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { MessageList } from "#core/storage/conversations/message-list.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { type ChangeDeps, changeConversation } from "./change.ts";

export type MarkDeps = ChangeDeps & {
  messages: Pick<MessageList, "countBehind">;
  messagesOf: (ids: readonly string[]) => Promise<ConversationMessageRow[]>;
};

/** Marks the messages of a conversation as read, as far as is asked, or the conversation as unread. @throws ValidationError */
export const markRead =
  (deps: MarkDeps) =>
  async (row: ConversationRow, { read = true, up_to_message_id: lastId }: ReadConversation) => {
    if (!read && lastId !== undefined) throw invalid("up_to_message_id", "goes with read: true alone");
    const changed = await changeConversation(deps, row, async (before, now) => ({
      unread_count: read ? await unreadBehind(deps, before, lastId) : Math.max(before.unread_count, 1),
      read_at: read ? now : null,
    }));
    return { unread_count: changed.unread_count, read_at: changed.read_at?.toISOString() ?? null };
  };

/** How many messages are unread once all up to one are read. @throws ValidationError */
const unreadBehind = async (
  { conversations, messages, messagesOf }: MarkDeps,
  row: ConversationRow,
  lastId: string | undefined,
): Promise<number> => {
  if (lastId === undefined || row.unread_count === 0) return 0;
  await conversations.keepLast(row); // the last ones may not be stored yet
  const [last] = await messagesOf([lastId]);
  if (last?.conversation_id !== row._id) throw invalid("up_to_message_id", "is not a message of this conversation");
  return messages.countBehind(row, last.position, row.unread_count);
};
