import { type Static, Type } from "typebox";
import { Closed, DateTime, MapOf, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { patterns } from "../json/patterns.ts";
import { memberName } from "../people/user.ts";
import { contactChannels } from "../vocabulary/channels.ts";
import { ConversationMessage, CreateConversationMessage } from "./message.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Optional, String: Text, Union } = Type;

export const conversationStatuses = ["open", "pending", "snoozed", "closed"] as const;

const Id = Text({ minLength: 1, maxLength: 64 });
const Instant = Nullable(Text({ format: "date-time" }));
const Count = Integer({ minimum: 0 });
const Priority = Enum(["low", "normal", "high", "urgent"]);
const HandledBy = Enum(["bot", "human"], { description: "who is to answer: a program or people" });
const Label = Text({ minLength: 1, maxLength: 64, pattern: patterns.noNull });

/** Who answers a conversation, as the caller calls them. */
export const Assignee = Closed({
  type: Enum(["account", "team"]),
  id: Label,
  name: Optional(Nullable(Text({ maxLength: 255 }))),
});
export type Assignee = Static<typeof Assignee>;

/** A conversation between an app and a person over one of the app's numbers. */
export const Conversation = Type.Object({
  id: Id,
  app_id: Id,
  channel: Enum([...contactChannels]),
  status: Enum([...conversationStatuses]),
  handled_by: HandledBy,
  user_id: Id,
  external_id: Nullable(Text()),
  subscription_id: Id,
  contact_address: Text({ description: "a phone number as E.164, or a mail address" }),
  contact_name: Nullable(Text({ description: "what the person calls themselves there" })),
  sender_address: Text({
    description: "what of the app they write to: a number, Meta's id of one, an RCS sender, a mail address",
  }),
  subject: Nullable(Text({ description: "of mails: what the thread is about" })),
  thread_key: Nullable(Text({ description: "of mails: the Message-ID of the first one of the thread" })),
  assignee: Nullable(Assignee),
  priority: Priority,
  tags: List(Label),
  custom_attributes: Type.Object({}, { additionalProperties: true }),
  unread_count: Count,
  message_count: Count,
  last_message: Nullable(ConversationMessage),
  session: Type.Object({
    open: Flag({ description: "whether anything may be sent now" }),
    expires_at: Instant,
    origin: Nullable(
      Enum(["user_message", "click_to_ad"], {
        description: "click_to_ad: an advertisement led to it; the first answer then opens 72 hours",
      }),
    ),
  }),
  can_reply: Enum(["free_form", "template_only", "none"]),
  snoozed_until: Instant,
  waiting_since: Nullable(
    Text({ format: "date-time", description: "the oldest message of the person that nobody has answered" }),
  ),
  first_response_at: Instant,
  last_inbound_at: Instant,
  last_outbound_at: Instant,
  read_at: Instant,
  closed_at: Instant,
  seq: Count,
  created_at: DateTime,
  updated_at: DateTime,
});
export type Conversation = Static<typeof Conversation>;

export const ConversationPage = PageOf(Conversation);

export const conversationPaging = pagingOf({
  keys: ["updated_at", "created_at", "waiting_since"],
  sort: "-updated_at",
});

/** `unresolved`: all but closed. */
const listedStatuses = [...conversationStatuses, "unresolved"] as const;

/** Query of `GET /v1/apps/{appId}/conversations`. */
export const ConversationListQuery = Type.Object({
  ...conversationPaging.pageQuery,
  status: Optional(List(Enum([...listedStatuses]), { maxItems: listedStatuses.length })),
  channel: Optional(Enum([...contactChannels])),
  assignee_id: Optional(Text({ minLength: 1, maxLength: 64, description: "`none`: nobody's" })),
  tag: Optional(Label),
  priority: Optional(Priority),
  handled_by: Optional(HandledBy),
  unread: Optional(Flag({ description: "true: with messages that are unread; false: without" })),
  q: Optional(
    Text({
      minLength: 2,
      maxLength: 100,
      pattern: patterns.noNull,
      description: "words that a message of the last 90 days has, all of them",
    }),
  ),
  user_id: Optional(Id),
  external_id: Optional(Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull })),
  contact_address: Optional(Text({ minLength: 1, maxLength: 320 })),
  ...conversationPaging.sortQuery,
});
export type ConversationListQuery = Static<typeof ConversationListQuery>;

/** Body of `PATCH /v1/apps/{appId}/conversations/{conversationId}`: what is left out stays. */
export const UpdateConversation = Closed(
  {
    status: Optional(Enum([...conversationStatuses])),
    snoozed_until: Optional(
      Nullable(
        Text({
          format: "date-time",
          description: "with `snoozed` alone; null: until the person writes",
        }),
      ),
    ),
    handled_by: Optional(HandledBy),
    priority: Optional(Priority),
    tags: Optional(List(Label, { maxItems: 20, uniqueItems: true })),
    custom_attributes: Optional(
      MapOf(
        { ...memberName, maxLength: 64 },
        Union([Text({ maxLength: 1_000, pattern: patterns.noNull }), Type.Number(), Flag(), Type.Null()]),
        { description: "null removes one; 50 at most, with those that there are" },
      ),
    ),
    contact_name: Optional(Nullable(Text({ maxLength: 255, pattern: patterns.noNull }))),
  },
  { minProperties: 1 },
);
export type UpdateConversation = Static<typeof UpdateConversation>;

/** Body of `POST /v1/apps/{appId}/conversations`: exactly one of the members that say whom it is with. */
export const CreateConversation = Closed({
  channel: Enum([...contactChannels]),
  subscription_id: Optional(Id),
  external_id: Optional(Text({ minLength: 1, maxLength: 255, pattern: patterns.noNull })),
  contact_address: Optional(
    Text({ minLength: 1, maxLength: 320, description: "a phone number as E.164, or a mail address" }),
  ),
  sender_address: Optional(
    Text({
      minLength: 1,
      maxLength: 320,
      pattern: patterns.noNull,
      description:
        "one of the app's numbers or senders; by mail the account's `from_address` or another of its domain, which answers come to; left out: the first",
    }),
  ),
  message: CreateConversationMessage,
  assignee: Optional(Nullable(Assignee)),
  handled_by: Optional(HandledBy),
  priority: Optional(Priority),
  tags: Optional(List(Label, { maxItems: 20, uniqueItems: true })),
});
export type CreateConversation = Static<typeof CreateConversation>;

/** Body of `…/assign`. */
export const AssignConversation = Closed({
  assignee: Nullable(Assignee),
  expected_assignee: Optional(
    Nullable(
      Text({ minLength: 1, maxLength: 64, description: "id of who it is believed to be assigned to; null: nobody" }),
    ),
  ),
  claim: Optional(Flag({ description: "only if it is nobody's" })),
  handled_by: Optional(HandledBy),
});
export type AssignConversation = Static<typeof AssignConversation>;

/** Body of `…/read`. */
export const ReadConversation = Closed({
  read: Optional(Flag({ description: "default true; false marks it unread" })),
  up_to_message_id: Optional(
    Text({ minLength: 1, maxLength: 64, description: "the last message that was read; left out: all were" }),
  ),
});
export type ReadConversation = Static<typeof ReadConversation>;

export const ConversationRead = Type.Object({ unread_count: Count, read_at: Instant });

named({
  Assignee,
  Conversation,
  ConversationPage,
  CreateConversation,
  UpdateConversation,
  AssignConversation,
  ReadConversation,
  ConversationRead,
});
