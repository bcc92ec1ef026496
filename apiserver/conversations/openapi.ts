import type {
  AssignConversation,
  Conversation,
  CreateConversation,
  ReadConversation,
  UpdateConversation,
} from "#core/schema/conversations/conversation.ts";
import type {
  ConversationMessage,
  ConversationNote,
  CreateConversationMessage,
  CreateConversationNote,
} from "#core/schema/conversations/message.ts";
import type { ConversationStats } from "#core/schema/conversations/stats.ts";
import { exampleAppId, exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";
import { lastPage } from "../http/openapi/examples.ts";
import { having } from "../http/openapi/narrow.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const conversationId = "cnv_01JDKQ4WSM7Y2HDB9C4TNEQ0KF";
const text: CreateConversationMessage = { text: "We have it in red, too." };
const template = { name: "order_update", language: "en_US", body_params: ["Ada", "4711"] };

const note: ConversationNote = {
  id: "cnt_01JDKQ4WSM7Y2HDB9C4TNEQ0KH",
  conversation_id: conversationId,
  text: "She bought the blue one last year.",
  mentions: ["grace"],
  author: { type: "api_key", id: "key_01JDKQ4WSM7Y2HDB9C4TNEQ0KJ" },
  created_at: exampleTime,
};

const assignee = { type: "account", id: "ada", name: "Ada" } as const;

const picture = {
  type: "image",
  status: "stored",
  problem: null,
  url: "https://files.example.com/conversations/picture.jpg?signature=…",
  filename: null,
  mime_type: "image/jpeg",
  size_bytes: 48_213,
  sha256: "b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c",
} satisfies ConversationMessage["media"][number];

const message: ConversationMessage = {
  id: "cmg_01JDKQ4WSM7Y2HDB9C4TNEQ0KG",
  conversation_id: conversationId,
  direction: "inbound",
  type: "media",
  mentions: [],
  text: "Does it come in red?",
  subject: null,
  html: null,
  quoted_text: null,
  cc: [],
  media: [picture],
  template: null,
  template_id: null,
  interactive: null,
  button: null,
  location: null,
  contacts: null,
  reaction: null,
  order: null,
  reply_to_id: null,
  status: "received",
  error: null,
  author: { type: "contact", id: refs.user_id },
  message_id: null,
  provider: "whatsapp",
  provider_message_id: "tzxrpVqC4oY0HnQkGcJ6v5u1w3yR2eA7bD9fS8mZxLk",
  sms_segments: null,
  sent_at: exampleTime,
  delivered_at: null,
  read_at: null,
  created_at: exampleTime,
};

const conversation: Conversation = {
  id: conversationId,
  app_id: exampleAppId,
  channel: "whatsapp",
  status: "open",
  handled_by: "human",
  user_id: refs.user_id,
  external_id: null,
  subscription_id: refs.subscription_id,
  contact_address: "+4915112345678",
  contact_name: "Ada",
  sender_address: "106540352242922",
  subject: null,
  thread_key: null,
  assignee,
  priority: "normal",
  tags: ["colours"],
  custom_attributes: { order: 4711 },
  unread_count: 1,
  message_count: 1,
  last_message: message,
  session: { open: true, expires_at: exampleTime, origin: "user_message" },
  can_reply: "free_form",
  snoozed_until: null,
  waiting_since: exampleTime,
  first_response_at: null,
  last_inbound_at: exampleTime,
  last_outbound_at: null,
  read_at: null,
  closed_at: null,
  seq: 1,
  created_at: exampleTime,
  updated_at: exampleTime,
};

const stats: ConversationStats = {
  open: 12,
  pending: 3,
  snoozed: 1,
  closed_today: 40,
  unassigned: 2,
  unread_conversations: 5,
  unread_messages: 9,
  waiting: 4,
  oldest_waiting_since: exampleTime,
  median_first_response_seconds: 95,
  by_channel: { whatsapp: 14, sms: 2 },
  by_assignee: [
    { assignee_id: "ada", open: 14, unread: 6 },
    { assignee_id: null, open: 2, unread: 3 },
  ],
};

/** What the OpenAPI document says of conversations beside their operations. */
export const docs: Docs = {
  tags: { Conversations: "What people write to an app on WhatsApp, SMS and RCS, and what it answers." },
  examples: {
    Assignee: [assignee],
    Conversation: [conversation],
    ConversationPage: [lastPage(conversation)],
    ConversationMedia: [picture],
    ConversationMessage: [message],
    ConversationMessagePage: [lastPage(message)],
    CreateConversationMessage: [text, { whatsapp_template: template }] satisfies CreateConversationMessage[],
    UpdateConversation: [
      { status: "snoozed", snoozed_until: "2099-01-01T08:00:00Z" },
      { status: "closed", tags: ["colours"], custom_attributes: { order: 4711, size: null } },
    ] satisfies UpdateConversation[],
    AssignConversation: [{ assignee, expected_assignee: null }, { assignee: null }] satisfies AssignConversation[],
    CreateConversation: [
      { channel: "sms", contact_address: "+4915112345678", message: text, tags: ["colours"] },
      { channel: "whatsapp", contact_address: "+4915112345678", message: { whatsapp_template: template } },
    ] satisfies CreateConversation[],
    ConversationStats: [stats],
    ConversationNote: [note],
    ConversationNotePage: [lastPage(note)],
    CreateConversationNote: [{ text: note.text, mentions: note.mentions }] satisfies CreateConversationNote[],
    ReadConversation: [{}, { read: false }] satisfies ReadConversation[],
    ConversationRead: [{ unread_count: 0, read_at: exampleTime }],
  },
  pathParameters: { conversationId: pathPart("id of a conversation", conversationId) },
  queryExamples: {
    assignee_id: "none",
    unread: true,
    include_notes: false,
    tag: "colours",
    q: "red",
    user_id: refs.user_id,
    external_id: "customer-42",
    contact_address: "+4915112345678",
  },
  narrowed: {
    CreateConversation: (schema) => ({
      ...schema,
      oneOf: [having("subscription_id"), having("external_id"), having("contact_address")],
    }),
  },
};
