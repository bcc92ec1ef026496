import { canReply } from "#core/domain/conversations/reply.ts";
import { searchKeys } from "#core/domain/conversations/words.ts";
import { derivedId, ulid } from "#core/domain/ids.ts";
import { AppError, invalid } from "#core/errors.ts";
import type { CreateConversationMessage } from "#core/schema/conversations/message.ts";
import type { CreateNotification } from "#core/schema/messages/notification.ts";
import type { ReplyContent } from "#core/schema/messages/reply-content.ts";
import type { ContactChannel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Caller } from "../access/caller.ts";
import { type ChangeDeps, changeConversation, requirePlace } from "./change.ts";
import { keptOf, notificationOf, type Quoted, requireForm } from "./content.ts";

export type ReplyDeps = ChangeDeps & {
  accept: AcceptNotification;
  /** Counts a reply that was accepted. */
  count: (channel: ContactChannel) => void;
  messagesOf: (ids: readonly string[]) => Promise<ConversationMessageRow[]>;
  subscriptionsOf: (ids: readonly string[]) => Promise<SubscriptionRow[]>;
};

/** Accepts a notification. Of requests with one key the first is accepted, and the others get what it was answered. */
export type AcceptNotification = (
  asked: Pick<Reply, "caller" | "app" | "traceparent"> & {
    body: CreateNotification & ReplyContent;
    key: string | undefined;
    conversationId: string;
    id?: string | undefined;
    before?: ((id: string) => Promise<void>) | undefined;
  },
  signal: AbortSignal,
) => Promise<{ result: { id: string } }>;

export type Reply = {
  caller: Caller;
  app: AppRow;
  conversation: ConversationRow;
  body: CreateConversationMessage;
  /** Of the message: the same for each attempt at a request. */
  id: string;
  traceparent: string;
  /** What else is changed of the conversation with it. */
  more?: Partial<ConversationRow>;
};

/** The message, and its conversation as it became by it. */
export type Answered = { conversation: ConversationRow; message: ConversationMessageRow };

/**
 * Answers the person of a conversation: as a notification to them alone, whose delivery says what becomes of it. It is put into the
 * conversation first, then accepted. Who repeats a request that was cut off sends nothing twice.
 * @throws AppError HS_SESSION_CLOSED, HS_RECIPIENT_SUPPRESSED, HS_CHANNEL_NOT_CONFIGURED, HS_CONFLICT, and as a
 * notification does
 */
export const reply =
  (deps: ReplyDeps) =>
  async (asked: Reply, signal: AbortSignal): Promise<ConversationMessageRow> => {
    const [known] = await deps.messagesOf([asked.id]);
    return known === undefined ? (await answerTo(deps, asked, signal)).message : resumed(deps, asked, known, signal);
  };

/** Answers in a conversation that is there. @throws as {@link reply} does */
export const answerTo = async (deps: ReplyDeps, asked: Reply, signal: AbortSignal): Promise<Answered> => {
  const { conversation, id, more = {} } = asked;
  const cutOff = conversation.appended.find(({ _id }) => _id === id);
  if (cutOff !== undefined) return { conversation, message: await resumed(deps, asked, cutOff, signal) };
  const [person = null] = await deps.subscriptionsOf([conversation.subscription_id]);
  let changed: ConversationRow | null = null;
  const keep = async (messageId: string): Promise<ConversationRow> =>
    (changed = await changeConversation(deps, conversation, (read, now) =>
      read.appended.some(({ _id }) => _id === id)
        ? null // another attempt has come as far as this
        : { ...repliedTo(read, rowOf(asked, { messageId, seq: read.seq + 1, now }), now), ...more },
    ));
  const messageId = await send(deps, { reply: asked, person, make: null, keep }, signal);
  const after = changed ?? (await keep(messageId)); // accepted by an attempt of a former release
  const row = after.appended.find(({ _id }) => _id === id);
  const message = row ?? rowOf(asked, { messageId, seq: after.seq, now: after.updated_at });
  return { conversation: after, message };
};

/** `make` stores the person, where they are not there yet; `keep` what is said, with the id of the notification. */
type Sending = {
  reply: Reply;
  person: SubscriptionRow | null;
  make: (() => Promise<void>) | null;
  keep: (messageId: string) => Promise<unknown>;
};

type SendDeps = Pick<ReplyDeps, "accept" | "count" | "messagesOf" | "clock">;

/** Has a reply accepted as a notification, and gives its id. @throws as {@link reply} does */
export const send = async (
  deps: SendDeps,
  { reply: asked, person, make, keep }: Sending,
  signal: AbortSignal,
): Promise<string> => {
  requireReplyable(asked, person, deps.clock.now());
  const quoted = await quotedBy(deps, asked);
  await make?.();
  const before = async (messageId: string): Promise<void> => void (await keep(messageId));
  const { result } = await deps.accept({ ...requestOf(asked, quoted), before }, signal);
  deps.count(asked.conversation.channel);
  return result.id;
};

/** Has a reply accepted that is in its conversation, unless it is: whoever put it there may have been cut off. */
export const resumed = async (
  deps: SendDeps & Pick<ReplyDeps, "conversations">,
  asked: Reply,
  known: ConversationMessageRow,
  signal: AbortSignal,
): Promise<ConversationMessageRow> => {
  await deps.conversations.keepLast({ appended: [known] });
  await deps.accept({ ...requestOf(asked, await quotedBy(deps, asked)), id: known.message_id }, signal);
  return known;
};

const requestOf = (asked: Reply, quoted: Quoted) => {
  const { caller, app, conversation, body, id, traceparent } = asked;
  const notification = notificationOf(conversation, body, quoted);
  return { caller, app, body: notification, key: keyOf(id), traceparent, conversationId: conversation._id };
};

/** The message of the person that a reply names, as its provider knows it. @throws ValidationError */
const quotedBy = async (
  { messagesOf }: Pick<ReplyDeps, "messagesOf">,
  { app, conversation, body }: Reply,
): Promise<Quoted> => {
  const [field, id] = body.reaction
    ? ["reaction.message_id", body.reaction.message_id]
    : ["reply_to_id", body.reply_to_id];
  if (id === undefined) return null;
  if (conversation.channel === "whatsapp" && app.channels.whatsapp?.provider === "twilio")
    throw invalid(field, "is not carried over Twilio");
  const [row = conversation.appended.find(({ _id }) => _id === id)] = await messagesOf([id]);
  const known = conversation.channel === "email" ? row?.provider_message_id : row?.provider_raw_id;
  if (row?.conversation_id !== conversation._id || known === undefined)
    throw invalid(field, "is not a message of the person in this conversation");
  return { rawId: known };
};

/** What makes repeats of a reply one notification. */
const keyOf = (id: string): string => derivedId("reply", id);

/** @throws AppError HS_SESSION_CLOSED, HS_RECIPIENT_SUPPRESSED, HS_CHANNEL_NOT_CONFIGURED, HS_CONFLICT; ValidationError */
const requireReplyable = ({ app, conversation, body }: Reply, person: SubscriptionRow | null, now: Date): void => {
  const { channel } = conversation;
  requireForm(body, channel);
  const isConfigured = app.channels[channel] !== undefined;
  if (!isConfigured)
    throw new AppError("HS_CHANNEL_NOT_CONFIGURED", `the app has no account of ${channel}`, { channel });
  requirePlace(conversation);
  const able = canReply(person, { isConfigured, now });
  if (able === "none") {
    const reason = person?.status_reason ?? person?.status ?? "deleted";
    throw new AppError("HS_RECIPIENT_SUPPRESSED", "the person gets no messages", { reason });
  }
  if (able === "template_only" && body.whatsapp_template === undefined) {
    const expires = person?.session_expires_at?.toISOString() ?? null;
    const details = { channel, expires_at: expires, requires: "template" };
    throw new AppError(
      "HS_SESSION_CLOSED",
      "the person wrote nothing for 24 hours: only a template may be sent",
      details,
    );
  }
};

type Made = { messageId: string; seq: number; now: Date };

export const rowOf = (
  { caller, conversation, body, id }: Reply,
  { messageId, seq, now }: Made,
): ConversationMessageRow => ({
  _id: id,
  tenant_id: conversation.tenant_id,
  app_id: conversation.app_id,
  conversation_id: conversation._id,
  subscription_id: conversation.subscription_id,
  user_id: conversation.user_id,
  position: ulid(now),
  direction: "outbound",
  ...keptOf(body),
  ...(body.text !== undefined && { words: searchKeys(body.text, now) }),
  message_id: messageId,
  author: { type: "api_key", id: caller.key._id },
  seq,
  created_at: now,
});

/** Nobody waits any more, and a closed conversation is opened, unless another one took its place at this moment. */
const repliedTo = (read: ConversationRow, row: ConversationMessageRow, now: Date): Partial<ConversationRow> => ({
  ...(read.status === "closed" && read.place !== undefined && { status: "open", closed_at: null }),
  waiting_since: null,
  ...(read.first_response_at === null &&
    read.waiting_since !== null && {
      first_response_at: now,
      first_response_ms: now.getTime() - read.waiting_since.getTime(),
    }),
  last_outbound_at: now,
  message_count: read.message_count + 1,
  last_message_id: row._id,
  appended: [row],
});
