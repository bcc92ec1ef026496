import type { Db } from "mongodb";
import { blankState, placeOf } from "#core/domain/conversations/conversation.ts";
import { newId, ulid } from "#core/domain/ids.ts";
import { type ConversationRow, conversationCollection } from "#core/storage/conversations/conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "#core/storage/conversations/message-row.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { noWork } from "#core/storage/work/due.ts";
import { aSubscription } from "./fixtures.ts";

let made = 0;

type OfApp = { tenant_id: string; app_id: string };
type Over = { conversation?: Partial<ConversationRow>; subscription?: Partial<SubscriptionRow> };

/** Stores somebody who has written once, with their subscription and conversation. */
export const seedConversation = async (db: Db, of: OfApp, { conversation = {}, subscription = {} }: Over = {}) => {
  const now = new Date();
  const channel = conversation.channel ?? "whatsapp";
  const token = `+4917${String(process.pid % 10_000).padStart(4, "0")}${String(made++).padStart(6, "0")}`;
  const person = aSubscription({
    ...of,
    channel,
    token,
    user_id: newId("user", now),
    session_expires_at: new Date(now.getTime() + 3_600_000),
    ...subscription,
  });
  const place = { channel, sender_address: "106540352242922", contact_address: token };
  const row: ConversationRow = {
    ...blankState,
    ...place,
    _id: newId("conversation", now),
    ...of,
    place: placeOf(place),
    subscription_id: person._id,
    user_id: person.user_id,
    external_id: null,
    assignee_id: "none",
    last_message_id: newId("conversationMessage", now),
    unread_count: 1,
    message_count: 1,
    waiting_since: now,
    last_inbound_at: now,
    seq: 1,
    appended: [],
    outbox: [],
    ...noWork,
    created_at: now,
    updated_at: now,
    ...conversation,
  };
  const message: ConversationMessageRow = {
    _id: row.last_message_id ?? "",
    ...of,
    conversation_id: row._id,
    subscription_id: person._id,
    user_id: person.user_id,
    position: ulid(now),
    direction: "inbound",
    type: "text",
    text: "Hello?",
    author: { type: "contact", id: person.user_id },
    provider: "whatsapp",
    provider_message_id: row._id,
    seq: 1,
    sent_at: now,
    created_at: now,
  };
  await db.collection<SubscriptionRow>(subscriptionCollection.name).insertOne(person);
  await db.collection<ConversationRow>(conversationCollection.name).insertOne(row);
  await db.collection<ConversationMessageRow>(conversationMessageCollection.name).insertOne(message);
  return { row, message, person };
};
