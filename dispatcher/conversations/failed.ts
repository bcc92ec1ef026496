import type { Db } from "mongodb";
import { conversationEvent } from "#core/domain/conversations/events.ts";
import { isFailedReply } from "#core/domain/conversations/reply.ts";
import type { EventEnvelope } from "#core/schema/events/envelope.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import type { DeliveryRow } from "#core/storage/messages/deliveries.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";

/** Tells of deliveries which of them are replies in conversations that did not arrive. */
export type TellFailed = (rows: readonly DeliveryRow[]) => Promise<EventEnvelope[]>;

/** The events of replies that failed, each once, whoever says so first. Reads nothing where no delivery is of a reply. */
export const failedReplies = (db: Db): TellFailed => {
  const conversations = collectionOf<ConversationRow>(db, conversationCollection);
  return async (rows) => {
    const failed = rows.filter((row) => row.conversation_id !== undefined && isFailed(row));
    if (failed.length === 0) return [];
    const ids = [...new Set(failed.map((row) => row.conversation_id ?? ""))];
    const found = await conversations.find({ _id: { $in: ids }, gone: { $ne: true } }).toArray();
    const byId = new Map(found.map((row) => [row._id, row]));
    return failed.flatMap((row) => {
      const conversation = byId.get(row.conversation_id ?? "");
      return conversation?.app_id === row.app_id ? [failedEvent(row, conversation)] : [];
    });
  };
};

const isFailed = ({ status, delivered_at: deliveredAt }: DeliveryRow): boolean =>
  isFailedReply(status) && deliveredAt === undefined;

const failedEvent = (row: DeliveryRow, conversation: ConversationRow): EventEnvelope =>
  conversationEvent("hs.conversation.message_failed", {
    conversation,
    cause: "provider",
    seq: conversation.seq,
    from: [row._id],
    at: row.failed_at ?? row.created_at,
    more: {
      message_id: row.message_id,
      delivery_id: row._id,
      error: {
        code: row.error_code ?? (row.suppression_reason ?? row.status).toUpperCase(),
        message: row.error_message ?? null,
        provider_code: row.provider_code ?? null,
      },
    },
  });
