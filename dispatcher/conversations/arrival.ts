import type { Inbound, InboundMedia } from "#core/channels/kit/inbound.ts";
import type { ConversationPlace } from "#core/domain/conversations/conversation.ts";
import { type ConversationRules, received } from "#core/domain/conversations/receive.ts";
import { nextLook } from "#core/domain/conversations/timing.ts";
import { searchKeys } from "#core/domain/conversations/words.ts";
import { defined } from "#core/domain/defined.ts";
import { derivedId, newId, ulid } from "#core/domain/ids.ts";
import type { ContactChannel } from "#core/schema/vocabulary/channels.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { inboundId } from "#core/storage/conversations/inbound-id.ts";
import type { ConversationMessageRow, MediaRow } from "#core/storage/conversations/message-row.ts";
import { openedRow } from "#core/storage/conversations/opened.ts";
import type { OfApp } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import { noWork } from "#core/storage/work/due.ts";

/** A message that came over a provider. */
export type Arrival = { of: OfApp; provider: string; channel: ContactChannel; message: Inbound };

/** The same with its id, and with whose it is. */
export type Prepared = Arrival & { id: string; place: ConversationPlace; contact: SubscriptionRow };

/** However often a message comes, it has one id. */
export const arrivalId = ({ of, provider, message }: Arrival): string =>
  inboundId(of.appId, provider, message.providerId);

export const placeOfArrival = ({ channel, message: { sender, address, mail } }: Arrival): ConversationPlace => ({
  channel,
  sender_address: sender ?? "",
  contact_address: address,
  ...(mail !== undefined && { thread_key: mail.threadKey }),
});

export type Making = {
  now: Date;
  rules: ConversationRules;
  /** What a message answers, by its own id. */
  answered: ReadonlyMap<string, string>;
};

/** What the conversation at a place becomes, by messages that are not in it yet. */
export const withArrivals = (
  before: ConversationRow | null,
  arrivals: readonly [Prepared, ...Prepared[]],
  making: Making,
): ConversationRow => {
  const { now } = making;
  const inOrder = arrivals.toSorted((a, b) => a.message.at.getTime() - b.message.at.getTime());
  const read = before ?? openedBy(arrivals[0], now);
  const [{ contact, channel }] = arrivals;
  const seq = before === null ? 1 : before.seq + 1;
  const was = before === null ? null : before.status === "open" ? undefined : before.status;
  const appended = inOrder.flatMap((one, n) => {
    const row = messageRow(one, { read, seq, was: n === 0 ? was : undefined, making });
    return [row, ...noticeOf(row, one)];
  });
  const state = received(
    read,
    arrivals.map(({ message }) => message),
    { session: channel === "whatsapp" ? { until: contact.session_expires_at ?? null } : null, now },
  );
  const isTimed = read.due_at !== null && (read.status === "open" || read.status === "pending");
  return {
    ...read,
    ...state,
    ...threadOf(read, inOrder),
    ...(!isTimed && { due_at: nextLook({ ...state, updated_at: now }, making.rules, now) }),
    message_count: read.message_count + appended.length,
    user_id: contact.user_id,
    external_id: contact.external_id,
    subscription_id: contact._id,
    last_message_id: appended.at(-1)?._id ?? null,
    seq,
    appended,
    uncounted_at: now,
    updated_at: now,
  };
};

/** Of mails: what the thread is about, and what the next reply answers. */
const threadOf = (
  { subject }: Pick<ConversationRow, "subject">,
  inOrder: readonly Prepared[],
): Pick<ConversationRow, "subject" | "last_mail_id"> => {
  const [first, last] = [inOrder[0]?.message.mail, inOrder.at(-1)?.message];
  const about = subject ?? first?.subject ?? undefined;
  return last?.mail === undefined ? {} : defined({ subject: about, last_mail_id: last.providerId });
};

const openedBy = ({ of, place, contact: person }: Prepared, now: Date): ConversationRow =>
  openedRow({ id: newId("conversation", now), of, place, person, now });

type Coming = { read: ConversationRow; seq: number; was: ConversationMessageRow["was"] | undefined; making: Making };

const messageRow = (
  { id, of, provider, contact, message }: Prepared,
  { read, seq, was, making: { now, answered } }: Coming,
): ConversationMessageRow => ({
  _id: id,
  tenant_id: of.tenantId,
  app_id: of.appId,
  conversation_id: read._id,
  subscription_id: contact._id,
  user_id: contact.user_id,
  position: ulid(now),
  direction: "inbound",
  type: message.type,
  ...defined({
    text: message.text ?? undefined,
    words: message.text === null ? undefined : searchKeys(message.text, now),
    media: message.media.length === 0 ? undefined : message.media.map(mediaRow),
    button: message.button ?? undefined,
    location: message.location ?? undefined,
    contacts: message.contacts ?? undefined,
    reaction: message.reaction ?? undefined,
    order: message.order ?? undefined,
    reply_to_id: answered.get(id),
    provider_raw_id: message.rawId ?? undefined,
    subject: message.mail?.subject ?? undefined,
    html: message.mail?.html ?? undefined,
    quoted_text: message.mail?.quotedText ?? undefined,
    cc: message.mail === undefined || message.mail.cc.length === 0 ? undefined : message.mail.cc,
    was,
  }),
  author: { type: "contact", id: contact.user_id },
  provider,
  provider_message_id: message.providerId,
  seq,
  ...(message.media.some(({ kept }) => kept === undefined) && { ...noWork, due_at: now }),
  sent_at: message.at < now ? message.at : now,
  created_at: now,
});

/** What a word of the person's did, as a message of the system below it. */
const noticeOf = (row: ConversationMessageRow, { message: { word } }: Prepared): ConversationMessageRow[] => {
  if (word !== "stop" && word !== "start") return [];
  const { _id, tenant_id, app_id, conversation_id, subscription_id, user_id, seq, sent_at, created_at } = row;
  return [
    {
      tenant_id,
      app_id,
      conversation_id,
      subscription_id,
      user_id,
      seq,
      ...(sent_at !== undefined && { sent_at }),
      created_at,
      _id: derivedId("conversationMessage", _id, "notice"),
      position: ulid(created_at),
      direction: "inbound",
      type: "system",
      text: word === "stop" ? "The contact opted out" : "The contact opted in again",
      author: { type: "system", id: null },
    },
  ];
};

const mediaRow = ({ type, filename, mimeType, url, id, kept }: InboundMedia): MediaRow => {
  const file = { type, filename, mime_type: mimeType };
  if (kept === undefined) return { ...file, status: "waiting", source: { url, id } };
  if ("problem" in kept) return { ...file, status: "failed", problem: kept.problem };
  return { ...file, status: "stored", key: kept.key, size_bytes: kept.sizeBytes, sha256: kept.sha256 };
};
