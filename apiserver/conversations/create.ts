import { placeOf } from "#core/domain/conversations/conversation.ts";
import { conversationEvent } from "#core/domain/conversations/events.ts";
import { AppError } from "#core/errors.ts";
import type { CreateConversation } from "#core/schema/conversations/conversation.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Arrivals } from "#core/storage/conversations/arrivals.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { openedRow } from "#core/storage/conversations/opened.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { assigned, tagged } from "./change.ts";
import type { PersonOf } from "./person.ts";
import { answerTo, type Reply, type ReplyDeps, rowOf, send } from "./reply.ts";
import { senderOf } from "./sender.ts";

export type CreateDeps = ReplyDeps & {
  arrivals: Pick<Arrivals, "at" | "open" | "leave">;
  find: (app: AppRow, id: string) => Promise<ConversationRow>;
  personOf: PersonOf;
};

export type Creating = Omit<Reply, "conversation" | "body"> & {
  body: CreateConversation;
  /** Of the conversation: the same for each attempt at a request. */
  conversationId: string;
};

const attempts = 5; // each lost to another who opens or closes one with the same person

/**
 * Writes to somebody first: in the conversation that is going on with them, else in a new one, which is pending until they
 * answer. Who repeats a request that was cut off sends nothing twice.
 * @throws ValidationError; AppError HS_SESSION_CLOSED, HS_RECIPIENT_SUPPRESSED, HS_CHANNEL_NOT_CONFIGURED, HS_CONFLICT
 */
export const createConversation =
  (deps: CreateDeps) =>
  async (asked: Creating, signal: AbortSignal): Promise<ConversationRow> => {
    const { app, body, id } = asked;
    const [known] = await deps.messagesOf([id]);
    if (known !== undefined) return deps.find(app, known.conversation_id);
    const sender = senderOf(app, body);
    const { row: person, make } = await deps.personOf(asked);
    const blank = blankOf(asked, person, sender);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const [at] = await deps.arrivals.at(ofApp(app), [placeOf(blank)]);
      const reply = { ...asked, body: body.message };
      if (at !== undefined && at.status !== "closed")
        return (await answerTo(deps, { ...reply, conversation: at, more: moreOf(body) }, signal)).conversation;
      const opening = { ...reply, conversation: blank };
      const messageId = await send(deps, { reply: opening, person, make }, signal);
      if (at !== undefined) await deps.arrivals.leave([at]);
      const row = openedBy(opening, messageId, deps.clock.now());
      const isTaken = (await deps.arrivals.open([row])).has(row._id);
      if (isTaken) continue;
      await deps.conversations.keepLast(row);
      deps.publish(row);
      return row;
    }
    throw new AppError("HS_CONFLICT", "others open conversations with the person at the same moment", {
      status: "busy",
    });
  };

const blankOf = ({ app, body, conversationId }: Creating, person: SubscriptionRow, sender: string): ConversationRow => {
  const place = { channel: body.channel, sender_address: sender, contact_address: person.token };
  const now = new Date(0); // until it is stored
  const row = openedRow({ id: conversationId, of: ofApp(app), place, person, now });
  return { ...row, status: "pending", ...moreOf(body) };
};

/** What a body says of the conversation beside the message. */
const moreOf = ({ assignee, tags, priority, handled_by }: CreateConversation): Partial<ConversationRow> => ({
  ...(assignee !== undefined && assigned(assignee)),
  ...(tags !== undefined && tagged(tags)),
  ...(priority !== undefined && { priority }),
  ...(handled_by !== undefined && { handled_by }),
});

const openedBy = (reply: Reply, messageId: string, now: Date): ConversationRow => {
  const message = rowOf(reply, { messageId, seq: 1, now });
  const row: ConversationRow = {
    ...reply.conversation,
    seq: 1,
    message_count: 1,
    last_message_id: message._id,
    last_outbound_at: now,
    appended: [message],
    due_at: sweepAfter(now),
    uncounted_at: now,
    created_at: now,
    updated_at: now,
  };
  const from = [row._id, "1"];
  const event = conversationEvent("hs.conversation.opened", {
    conversation: row,
    cause: "api_key",
    seq: 1,
    from,
    at: now,
  });
  return { ...row, outbox: [event] };
};
