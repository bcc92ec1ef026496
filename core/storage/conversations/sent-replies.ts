import type { Db } from "mongodb";
import { minuteMs } from "../../domain/durations.ts";
import { beforeIdsOf, instantOfId } from "../../domain/ids.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";

/** A reply by its conversation and the notification that it was sent as. */
export type SentReply = { conversationId: string; messageId: string };

/** A reply is put into its conversation right after its notification got its id; clocks may differ. */
const around = { before: minuteMs, after: 5 * minuteMs };

/** The ids of replies in their conversations, by the ids of their notifications; those that are not there are left out. */
export const sentReplies =
  (db: Db) =>
  async ({ tenantId, appId }: OfApp, replies: readonly SentReply[]): Promise<ReadonlyMap<string, string>> => {
    if (replies.length === 0) return new Map();
    const sentMs = replies.map(({ messageId }) => instantOfId(messageId).getTime());
    const found = await collectionOf<ConversationMessageRow>(db, conversationMessageCollection)
      .find(
        {
          conversation_id: { $in: [...new Set(replies.map(({ conversationId }) => conversationId))] },
          position: {
            $gte: beforeIdsOf(null, new Date(Math.min(...sentMs) - around.before)),
            $lt: beforeIdsOf(null, new Date(Math.max(...sentMs) + around.after)),
          },
          message_id: { $in: replies.map(({ messageId }) => messageId) },
          app_id: appId,
          tenant_id: tenantId,
        },
        { projection: { message_id: 1 }, hint: "list" },
      )
      .toArray();
    return new Map(found.map(({ _id, message_id: of = "" }) => [of, _id]));
  };
