import { type Static, Type } from "typebox";
import { Closed, DateTime, MapOf, Nullable, Url } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";
import { WhatsappContent } from "../messages/chat.ts";

const { Array: List, Enum, Integer, Optional, String: Text } = Type;

/** What people send. */
export const inboundTypes = [
  "text",
  "media",
  "button_reply",
  "list_reply",
  "location",
  "contacts",
  "reaction",
  "sticker",
  "order",
  "unsupported",
] as const;

export const conversationMessageTypes = [...inboundTypes, "template", "interactive", "system"] as const;

/** A note stands among the messages that are listed with notes. */
const listedTypes = [...conversationMessageTypes, "note"] as const;
export const conversationMessageStatuses = ["received", "queued", "sent", "delivered", "read", "failed"] as const;
export const mediaProblems = [
  "too_large",
  "type_not_allowed",
  "not_found",
  "address_refused",
  "unavailable",
  "no_store",
] as const;

const Id = Text({ minLength: 1, maxLength: 64 });
const Instant = Nullable(Text({ format: "date-time" }));
const Name = Nullable(Text());

/** A file that came with a message. */
export const ConversationMedia = Type.Object({
  type: Enum(["image", "video", "audio", "document", "sticker"]),
  status: Enum(["waiting", "stored", "failed"]),
  problem: Nullable(Enum([...mediaProblems])),
  url: Nullable(Text({ description: "for an hour; null until it is stored" })),
  filename: Name,
  mime_type: Name,
  size_bytes: Nullable(Integer({ minimum: 0 })),
  sha256: Name,
});
export type ConversationMedia = Static<typeof ConversationMedia>;

/** A message of a conversation. */
export const ConversationMessage = Type.Object({
  id: Id,
  conversation_id: Id,
  direction: Enum(["inbound", "outbound"]),
  type: Enum([...listedTypes]),
  text: Name,
  subject: Nullable(Text({ description: "of a mail" })),
  html: Nullable(Text({ description: "of a mail: as its sender wrote it, so show it in a sandbox" })),
  quoted_text: Nullable(Text({ description: "what a mail repeats of those before it" })),
  cc: List(Text(), { description: "who else got a mail" }),
  mentions: List(Text(), { description: "of a note: whom it is for" }),
  media: List(ConversationMedia),
  template: Nullable(WhatsappContent.whatsapp_template),
  template_id: Nullable(Text({ description: "the stored template that says what a reply says" })),
  interactive: Nullable(WhatsappContent.whatsapp_interactive),
  button: Nullable(Type.Object({ id: Text(), title: Text() })),
  location: Nullable(Type.Object({ latitude: Type.Number(), longitude: Type.Number(), name: Name, address: Name })),
  contacts: Nullable(List(Type.Object({ name: Name, phones: List(Text()), emails: List(Text()) }))),
  reaction: Nullable(
    Type.Object({
      emoji: Nullable(Text({ description: "null: it was taken back" })),
    }),
  ),
  order: Nullable(
    Type.Object({
      catalog_id: Name,
      items: List(
        Type.Object({
          product_id: Text(),
          quantity: Type.Number(),
          price: Nullable(Type.Number()),
          currency: Name,
        }),
      ),
    }),
  ),
  reply_to_id: Nullable(Text({ description: "the message, or the delivery of a notification, that it answers" })),
  status: Nullable(Enum([...conversationMessageStatuses], { description: "null: a note, which is sent to nobody" })),
  error: Nullable(Type.Object({ code: Text(), message: Name, provider_code: Name })),
  author: Type.Object({ type: Enum(["contact", "api_key", "system"]), id: Name }),
  message_id: Nullable(Text({ description: "the notification that it was sent as" })),
  provider: Name,
  provider_message_id: Name,
  sms_segments: Nullable(Integer({ description: "of a reply by SMS: the messages that its text was sent in" })),
  sent_at: Instant,
  delivered_at: Instant,
  read_at: Instant,
  created_at: DateTime,
});
export type ConversationMessage = Static<typeof ConversationMessage>;

export const ConversationMessagePage = PageOf(ConversationMessage);

export const conversationMessagePaging = pagingOf({ sort: "-created_at" });

/** Query of `GET /v1/apps/{appId}/conversations/{conversationId}/messages`. */
export const ConversationMessageListQuery = Type.Object({
  ...conversationMessagePaging.pageQuery,
  direction: Optional(Enum(["inbound", "outbound"])),
  type: Optional(Enum([...conversationMessageTypes])),
  include_notes: Optional(
    Type.Boolean({ description: "whether notes are among them; not with `direction` or `type`" }),
  ),
  ...conversationMessagePaging.sortQuery,
});
export type ConversationMessageListQuery = Static<typeof ConversationMessageListQuery>;

const Coordinate = (most: number) => Type.Number({ minimum: -most, maximum: most });

/** Body of `POST /v1/apps/{appId}/conversations/{conversationId}/messages`: one of what a reply may be. */
export const CreateConversationMessage = Closed({
  text: Optional(
    Text({
      minLength: 1,
      maxLength: 16_384,
      pattern: patterns.noNull,
      description: "at most 4,096 characters but by mail; by SMS 1,600; beside media 1,024",
    }),
  ),
  subject: Optional(
    Text({
      minLength: 1,
      maxLength: 998,
      pattern: patterns.noNull,
      description: "of a mail; left out: that of the thread",
    }),
  ),
  html: Optional(
    Text({
      minLength: 1,
      maxLength: 100_000,
      pattern: patterns.noNull,
      description: "of a mail, instead of its text or beside it: then the text alternative is made of it",
    }),
  ),
  attachments: Optional(
    List(
      Closed({
        url: Url,
        filename: Optional(
          Text({
            minLength: 1,
            maxLength: 255,
            pattern: patterns.noNull,
            description: "left out: the end of the address",
          }),
        ),
      }),
      { minItems: 1, maxItems: 10, description: "of a mail: files at public addresses, 10 MiB in all, attached to it" },
    ),
  ),
  media: Optional(WhatsappContent.whatsapp_media),
  media_urls: Optional(List(Url, { minItems: 1, maxItems: 10, description: "by SMS: files that the carrier fetches" })),
  whatsapp_template: Optional(WhatsappContent.whatsapp_template),
  whatsapp_interactive: Optional(WhatsappContent.whatsapp_interactive),
  location: Optional(
    Closed({
      latitude: Coordinate(90),
      longitude: Coordinate(180),
      name: Optional(Text({ minLength: 1, maxLength: 1_000, pattern: patterns.noNull })),
      address: Optional(Text({ minLength: 1, maxLength: 1_000, pattern: patterns.noNull })),
    }),
  ),
  reaction: Optional(
    Closed({
      message_id: Text({ minLength: 1, maxLength: 64, description: "a message of the person" }),
      emoji: Text({ maxLength: 32, pattern: patterns.noNull, description: "empty: takes it back" }),
    }),
  ),
  template_id: Optional(Text({ minLength: 1, maxLength: 64, description: "a stored template" })),
  custom_data: Optional(
    MapOf({ minLength: 1, maxLength: 255 }, Type.Unknown(), { description: "with `template_id`: what it shows" }),
  ),
  reply_to_id: Optional(
    Text({ minLength: 1, maxLength: 64, description: "the message of the person that is answered" }),
  ),
});
export type CreateConversationMessage = Static<typeof CreateConversationMessage>;

/** A note of somebody who answers, for the others who do. */
export const ConversationNote = Type.Object({
  id: Id,
  conversation_id: Id,
  text: Text(),
  mentions: List(Text()),
  author: Type.Object({ type: Enum(["api_key"]), id: Text() }),
  created_at: DateTime,
});
export type ConversationNote = Static<typeof ConversationNote>;

export const ConversationNotePage = PageOf(ConversationNote);

export const conversationNotePaging = pagingOf({ sort: "-created_at" });

/** Query of `GET …/notes`. */
export const ConversationNoteListQuery = Type.Object({
  ...conversationNotePaging.pageQuery,
  ...conversationNotePaging.sortQuery,
});
export type ConversationNoteListQuery = Static<typeof ConversationNoteListQuery>;

/** Body of `POST …/notes`. */
export const CreateConversationNote = Closed({
  text: Text({ minLength: 1, maxLength: 10_000, pattern: patterns.noNull }),
  mentions: Optional(
    List(Text({ minLength: 1, maxLength: 64, pattern: patterns.noNull }), {
      maxItems: 20,
      uniqueItems: true,
      description: "ids of your own of whom it is for",
    }),
  ),
});
export type CreateConversationNote = Static<typeof CreateConversationNote>;

named({ ConversationNote, ConversationNotePage, CreateConversationNote });
named({ ConversationMedia, ConversationMessage, ConversationMessagePage, CreateConversationMessage });
