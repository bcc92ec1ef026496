import {
  AssignConversation,
  Conversation,
  ConversationListQuery,
  ConversationPage,
  ConversationRead,
  CreateConversation,
  ReadConversation,
  UpdateConversation,
} from "#core/schema/conversations/conversation.ts";
import {
  ConversationMessage,
  ConversationMessageListQuery,
  ConversationMessagePage,
  ConversationNote,
  ConversationNoteListQuery,
  ConversationNotePage,
  CreateConversationMessage,
  CreateConversationNote,
} from "#core/schema/conversations/message.ts";
import { ConversationStats, ConversationStatsQuery } from "#core/schema/conversations/stats.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { feature } from "../http/feature.ts";
import { appOfPath } from "../http/locate.ts";
import { type Located, routeOf } from "../http/route.ts";
import { docs } from "./openapi.ts";
import { type ConversationUse, conversationUseCases } from "./use-cases.ts";

const base = "/v1/apps/{appId}/conversations";
const ofConversation = `${base}/{conversationId}`;

const route = routeOf<ConversationUse>({ tag: "Conversations", scopes: ["notifications:write"] });

type Found = { app: AppRow; row: ConversationRow };

/** The conversation that the path names, and its app. */
const conversationOfPath = async (located: Located<ConversationUse>): Promise<Found> => {
  const app = await appOfPath(located);
  return { app, row: await located.use.find(ofApp(app), located.params["conversationId"]) };
};

const plan = "conversations" as const;

const replyErrors = [
  "HS_SESSION_CLOSED",
  "HS_RECIPIENT_SUPPRESSED",
  "HS_CHANNEL_NOT_CONFIGURED",
  "HS_QUOTA_EXCEEDED",
  "HS_CONFLICT",
] as const;

const routes = [
  route({
    id: "listConversations",
    method: "GET",
    path: base,
    summary: "List the conversations of an app, those that changed last first",
    feature: plan,
    query: ConversationListQuery,
    reply: ConversationPage,
    locate: appOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.list(resource, query) }),
  }),

  route({
    id: "createConversation",
    method: "POST",
    path: base,
    summary: "Write to somebody, in the conversation with them that is going on, or in a new one",
    status: [201, 200],
    feature: plan,
    errors: [...replyErrors],
    body: CreateConversation,
    reply: Conversation,
    locate: appOfPath,
    repeatable: {},
    handle: async ({ use, caller, body, resource: app, newId, traceparent, signal }) =>
      use.create(
        {
          caller,
          app,
          body,
          id: newId("conversationMessage"),
          conversationId: newId("conversation"),
          traceparent,
        },
        signal,
      ),
  }),

  route({
    id: "getConversationStats",
    method: "GET",
    path: `${base}/stats`,
    summary: "Count the conversations of an app by what they are",
    feature: plan,
    query: ConversationStatsQuery,
    reply: ConversationStats,
    locate: appOfPath,
    handle: async ({ use, query, resource }) => ({ body: await use.stats(resource, query) }),
  }),

  route({
    id: "getConversation",
    method: "GET",
    path: ofConversation,
    summary: "Show a conversation",
    feature: plan,
    reply: Conversation,
    locate: conversationOfPath,
    handle: async ({ use, resource: { app, row } }) => ({ body: await use.view(app, row) }),
  }),

  route({
    id: "updateConversation",
    method: "PATCH",
    path: ofConversation,
    summary: "Change the status, priority, tags or attributes of a conversation",
    feature: plan,
    errors: ["HS_CONFLICT"],
    body: UpdateConversation,
    reply: Conversation,
    locate: conversationOfPath,
    handle: async ({ use, body, resource: { app, row } }) => ({ body: await use.update(app, row, body) }),
  }),

  route({
    id: "listConversationMessages",
    method: "GET",
    path: `${ofConversation}/messages`,
    summary: "List the messages of a conversation",
    feature: plan,
    query: ConversationMessageListQuery,
    reply: ConversationMessagePage,
    locate: conversationOfPath,
    handle: async ({ use, query, resource: { row }, signal }) => ({ body: await use.messages(row, query, signal) }),
  }),

  route({
    id: "createConversationMessage",
    method: "POST",
    path: `${ofConversation}/messages`,
    summary: "Answer the person of a conversation",
    status: [202],
    feature: plan,
    errors: [...replyErrors],
    body: CreateConversationMessage,
    reply: ConversationMessage,
    locate: conversationOfPath,
    repeatable: { show: ({ use }, id) => use.shownMessage(id) },
    handle: async ({ use, caller, body, resource: { app, row }, newId, traceparent, signal }) => ({
      body: await use.reply(
        { caller, app, conversation: row, body, id: newId("conversationMessage"), traceparent },
        signal,
      ),
    }),
  }),

  route({
    id: "assignConversation",
    method: "POST",
    path: `${ofConversation}/assign`,
    summary: "Assign a conversation, or take it from who has it",
    feature: plan,
    errors: ["HS_CONFLICT"],
    body: AssignConversation,
    reply: Conversation,
    locate: conversationOfPath,
    repeatable: {},
    handle: async ({ use, body, resource: { app, row } }) => ({ body: await use.assign(app, row, body) }),
  }),

  route({
    id: "readConversation",
    method: "POST",
    path: `${ofConversation}/read`,
    summary: "Mark the messages of a conversation as read, or the conversation as unread",
    feature: plan,
    errors: ["HS_CONFLICT"],
    body: ReadConversation,
    reply: ConversationRead,
    locate: conversationOfPath,
    repeatable: {},
    handle: async ({ use, body, resource: { row } }) => ({ body: await use.read(row, body) }),
  }),

  route({
    id: "listConversationNotes",
    method: "GET",
    path: `${ofConversation}/notes`,
    summary: "List the notes in a conversation",
    feature: plan,
    query: ConversationNoteListQuery,
    reply: ConversationNotePage,
    locate: conversationOfPath,
    handle: async ({ use, query, resource: { row } }) => ({ body: await use.notes(row, query) }),
  }),

  route({
    id: "createConversationNote",
    method: "POST",
    path: `${ofConversation}/notes`,
    summary: "Note something in a conversation, for whoever answers",
    status: [201],
    feature: plan,
    body: CreateConversationNote,
    reply: ConversationNote,
    locate: conversationOfPath,
    repeatable: { show: ({ use, resource: { row } }, id) => use.shownNote(row, id) },
    handle: async ({ use, caller, body, resource: { row }, newId }) => ({
      body: await use.note({ caller, conversation: row, body, id: newId("conversationNote") }),
    }),
  }),
];

/** What people write to an app, and what it answers. */
export const conversations = feature({ make: conversationUseCases, routes, ...docs });
