import { messageIdOf } from "#core/channels/email/message-id.ts";
import { placeOf } from "#core/domain/conversations/conversation.ts";
import { conversationEvent } from "#core/domain/conversations/events.ts";
import { AppError, invalid } from "#core/errors.ts";
import type { CreateConversation } from "#core/schema/conversations/conversation.ts";
import type { Arrivals } from "#core/storage/conversations/arrivals.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { openedRow } from "#core/storage/conversations/opened.ts";
import { deliveryIdOf } from "#core/storage/messages/deliveries.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { sweepAfter } from "#core/storage/work/due.ts";
import { assigned, tagged } from "./change.ts";
import type { PersonOf } from "./person.ts";
import { answerTo, type Reply, type ReplyDeps, resumed, rowOf, send } from "./reply.ts";
import { senderOf } from "./sender.ts";

export type CreateDeps = ReplyDeps & {
  arrivals: Pick<Arrivals, "at" | "open" | "leave">;
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
 * answer; a mail begins a thread, and so a conversation. That is stored first, then what is said in it is accepted. Who repeats a
 * request that was cut off sends nothing twice.
 * @throws ValidationError; AppError HS_SESSION_CLOSED, HS_RECIPIENT_SUPPRESSED, HS_CHANNEL_NOT_CONFIGURED, HS_CONFLICT
 */
export const createConversation =
  (deps: CreateDeps) =>
  async (asked: Creating, signal: AbortSignal): Promise<ConversationRow> => {
    const before = await cutOff(deps, asked, signal);
    if (before !== null) return before;
    const { app, body } = asked;
    const sender = senderOf(app, body);
    requireSubject(body);
    const { row: person, make } = await deps.personOf(asked);
    const blank = blankOf(asked, person, sender);
    for (let attempt = 0; attempt < attempts; attempt++) {
      const [at] = body.channel === "email" ? [] : await deps.arrivals.at(ofApp(app), [placeOf(blank)]);
      const reply = { ...asked, body: body.message };
      if (at !== undefined && at.status !== "closed")
        return (await answerTo(deps, { ...reply, conversation: at, more: moreOf(body) }, signal)).conversation;
      const opening = { reply: { ...reply, conversation: blank }, person, make };
      const row = await open(deps, opening, at, signal);
      if (row !== null) return row;
    }
    throw new AppError("HS_CONFLICT", "others open conversations with the person at the same moment", {
      status: "busy",
    });
  };

/** What an attempt at the same request came to store, whose message is accepted now unless it is; null without one. */
const cutOff = async (deps: CreateDeps, asked: Creating, signal: AbortSignal): Promise<ConversationRow | null> => {
  const { app, body, id, conversationId } = asked;
  const [stored] = await deps.messagesOf([id]);
  const row = await deps.conversations.find(ofApp(app), stored?.conversation_id ?? conversationId);
  const known = stored ?? row?.appended.find(({ _id }) => _id === id);
  if (row === null || known === undefined) return null;
  const { thread_key: _thread, last_mail_id: _last, ...first } = row; // of a first mail there were none
  const conversation = row._id === conversationId ? first : row;
  await resumed(deps, { ...asked, body: body.message, conversation }, known, signal);
  return row;
};

type Opening = { reply: Reply; person: SubscriptionRow; make: (() => Promise<void>) | null };

class Taken extends Error {}

/** Opens a conversation, in place of a closed one where there is one; null when another was opened there meanwhile. */
const open = async (
  deps: CreateDeps,
  opening: Opening,
  closed: ConversationRow | undefined,
  signal: AbortSignal,
): Promise<ConversationRow | null> => {
  let opened: ConversationRow | null = null;
  const keep = async (messageId: string): Promise<ConversationRow> => {
    if (closed !== undefined) await deps.arrivals.leave([closed]);
    const row = openedBy(opening.reply, messageId, deps.clock.now());
    if ((await deps.arrivals.open([row])).has(row._id)) throw new Taken();
    await deps.conversations.keepLast(row);
    return (opened = row);
  };
  try {
    const messageId = await send(deps, { ...opening, keep }, signal);
    const row = opened ?? (await keep(messageId)); // accepted by an attempt of a former release
    deps.publish(row);
    return row;
  } catch (error) {
    if (error instanceof Taken) return null;
    throw error;
  }
};

/** The subject of a thread is that of its first mail. @throws ValidationError */
const requireSubject = ({ channel, message }: CreateConversation): void => {
  if (channel === "email" && message.subject === undefined && message.template_id === undefined)
    throw invalid("message.subject", "is required of a first mail");
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

/** A mail's thread is known by the Message-ID that it will have. */
const threadOf = ({ app, conversation, body }: Reply, messageId: string): Partial<ConversationRow> => {
  if (conversation.channel !== "email") return {};
  const from = app.channels.email?.from_address ?? conversation.sender_address;
  const thread = messageIdOf(deliveryIdOf(messageId, conversation.subscription_id), from);
  const { subject } = body;
  return {
    thread_key: thread,
    place: placeOf({ ...conversation, thread_key: thread }),
    ...(subject !== undefined && { subject }),
  };
};

const openedBy = (reply: Reply, messageId: string, now: Date): ConversationRow => {
  const message = rowOf(reply, { messageId, seq: 1, now });
  const row: ConversationRow = {
    ...reply.conversation,
    ...threadOf(reply, messageId),
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
