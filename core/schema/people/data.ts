import { type Static, Type } from "typebox";
import { Conversation } from "../conversations/conversation.ts";
import { ConversationMedia, ConversationMessage, ConversationNote } from "../conversations/message.ts";
import { InAppEvent } from "../in-app-messages/device.ts";
import { InboxItem } from "../inbox/item.ts";
import { ChannelName, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { Delivery } from "../messages/delivery.ts";
import { Suppression } from "../suppressions/suppression.ts";
import { User } from "./user.ts";

const { Array: List, Number: Amount, String: Text } = Type;

/** What a reply has at most. Source: docs/reference/people.md#personal-data. */
export const personalDataBytes = 10_000_000;

const Address = Type.Object({
  subscription_id: Text(),
  channel: ChannelName,
  token: Text({ description: "unmasked" }),
});

const StoredEvent = Type.Object({
  id: Text(),
  name: Text(),
  subscription_id: Nullable(Text()),
  properties: Type.Object({}, { additionalProperties: true }),
  value: Nullable(Amount()),
  source: Text(),
  occurred_at: DateTime,
  received_at: DateTime,
});

/** What they did with an in-app message. */
export const StoredInAppEvent = Type.Object({
  id: Text(),
  type: InAppEvent.properties.type,
  message_id: Text(),
  variant_id: Text(),
  page_id: Nullable(Text()),
  click_id: Nullable(Text()),
  subscription_id: Text(),
  at: DateTime,
});

/** When their devices began sessions in a month. */
export const StoredSessions = Type.Object({
  month: DateTime,
  begun: List(DateTime, { description: "begins of the quarters of an hour in which one did" }),
});

/** A conversation, as the data of its person shows it. */
export const StoredConversation = Type.Pick(Conversation, [
  "id",
  "channel",
  "status",
  "contact_address",
  "contact_name",
  "sender_address",
  "tags",
  "custom_attributes",
  "last_inbound_at",
  "last_outbound_at",
  "created_at",
  "updated_at",
]);

/** A file of a message. */
export const StoredFile = Type.Object({
  ...Type.Pick(ConversationMedia, ["type", "status", "filename", "mime_type", "size_bytes", "sha256"]).properties,
  url: Nullable(Text({ description: "the address that a reply named" })),
});

/** A message of a conversation. */
export const StoredMessage = Type.Object({
  ...Type.Pick(ConversationMessage, [
    "id",
    "conversation_id",
    "direction",
    "type",
    "text",
    "subject",
    "html",
    "quoted_text",
    "cc",
    "template",
    "template_id",
    "interactive",
    "button",
    "location",
    "contacts",
    "reaction",
    "order",
    "message_id",
    "sent_at",
    "created_at",
  ]).properties,
  media: List(StoredFile),
});

/** A note in a conversation. */
export const StoredNote = Type.Pick(ConversationNote, ["id", "conversation_id", "text", "created_at"]);

/** Reply of `GET …/users/by/{label}/{id}/data`: what is stored about a person. */
export const PersonalData = Type.Object({
  user: User,
  addresses: List(Address, { description: "of the user's subscriptions" }),
  suppressions: List(Suppression, { description: "entries about the user or one of these addresses" }),
  events: List(StoredEvent, { description: "custom events" }),
  deliveries: List(Delivery, { description: "what was sent to them" }),
  inbox: List(InboxItem, { description: "what their inbox shows" }),
  in_app_events: List(StoredInAppEvent, { description: "what they did with in-app messages" }),
  sessions: List(StoredSessions, { description: "when their devices began sessions, by month" }),
  conversations: List(StoredConversation, { description: "with them" }),
  conversation_messages: List(StoredMessage, { description: "what they wrote, and were answered" }),
  conversation_notes: List(StoredNote, { description: "what was noted in these conversations" }),
  generated_at: DateTime,
});
export type PersonalData = Static<typeof PersonalData>;

named({ PersonalData });
