import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import { defined } from "#core/domain/defined.ts";
import type {
  AssignConversation,
  Conversation,
  ConversationListQuery,
  ReadConversation,
  UpdateConversation,
} from "#core/schema/conversations/conversation.ts";
import { conversationPaging } from "#core/schema/conversations/conversation.ts";
import {
  type ConversationMessage,
  type ConversationMessageListQuery,
  conversationMessagePaging,
} from "#core/schema/conversations/message.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { type Conversations, conversations as conversationStore } from "#core/storage/conversations/conversations.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import { collectionOf, type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { SortPosition } from "#core/storage/mongo/page-range.ts";
import { inPages } from "#core/storage/mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { existing } from "../http/locate.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { assignmentOf, type ChangeDeps, changeConversation, updateOf } from "./change.ts";
import { type AcceptNotification, type Reply, reply } from "./reply.ts";
import { type Views, views } from "./views.ts";

export type ConversationPlatform = {
  db: Db;
  cursors: Cursors;
  files: Pick<FileStore, "kind" | "addressOf">;
  acceptNotification: AcceptNotification;
  clock: Clock;
};

export type ConversationUse = ReturnType<typeof conversationUseCases>;

/** What the operations on conversations do. */
export const conversationUseCases = (platform: ConversationPlatform) => {
  const { db, clock, cursors, files } = platform;
  const store = conversationStore(db);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const subscriptionsOf = (ids: readonly string[]): Promise<SubscriptionRow[]> =>
    inPages(ids, idsAtOnce, (some) =>
      subscriptions.find({ _id: { $in: some } }, { batchSize: some.length + 1 }).toArray(),
    );
  const show = views({
    messagesOf: store.messagesOf,
    deliveriesOf: deliveries(db).existing,
    subscriptionsOf,
    files,
    clock,
  });
  const view = async (app: AppRow, row: ConversationRow): Promise<Conversation> => {
    const [shown] = await show.conversations(app, [row]);
    return existing(shown ?? null, "conversation");
  };
  const changing = { conversations: store, clock };
  const answer = reply({
    ...changing,
    accept: platform.acceptNotification,
    subscriptionsOf,
    messagesOf: store.messagesOf,
  });
  return {
    find: async (of: OfApp, id = ""): Promise<ConversationRow> => existing(await store.find(of, id), "conversation"),
    view,
    ...lists({ store, show, cursors }),
    reply: async (asked: Reply, signal: AbortSignal): Promise<ConversationMessage> => {
      const [shown] = await show.messages([await answer(asked, signal)]);
      return existing(shown ?? null, "message");
    },
    shownMessage: async (id: string): Promise<ConversationMessage> => {
      const [shown] = await show.messages(await store.messagesOf([id]));
      return existing(shown ?? null, "message");
    },
    ...changes({ conversations: store, clock }, view),
  };
};

const idsAtOnce = 500;

type Listing = { store: Conversations; show: Views; cursors: Cursors };

const lists = ({ store, show, cursors }: Listing) => ({
  list: async (app: AppRow, query: ConversationListQuery): Promise<Page<Conversation>> => {
    const { status, assignee_id, user_id, contact_address } = query;
    const filter = defined({ status, assigneeId: assignee_id, userId: user_id, contactAddress: contact_address });
    const page = await readPage<ConversationRow, ConversationRow, SortPosition>({
      cursors,
      paging: conversationPaging,
      list: `conversations/${app._id}`,
      query,
      read: (place) => store.page(ofApp(app), filter, place),
      positionOf: (row) => ({ value: row.updated_at, id: row._id }),
      view: (row) => row,
    });
    return { ...page, data: await show.conversations(app, page.data) };
  },
  messages: async (row: ConversationRow, query: ConversationMessageListQuery): Promise<Page<ConversationMessage>> => {
    const page = await readPage({
      cursors,
      paging: conversationMessagePaging,
      list: `conversation_messages/${row._id}`,
      query,
      read: (place) => store.messagePage(row, place),
      positionOf: ({ position }) => position,
      view: (one) => one,
    });
    return { ...page, data: await show.messages(page.data) };
  },
});

type View = (app: AppRow, row: ConversationRow) => Promise<Conversation>;

const changes = (changing: ChangeDeps, view: View) => ({
  update: async (app: AppRow, row: ConversationRow, body: UpdateConversation): Promise<Conversation> =>
    view(app, await changeConversation(changing, row, updateOf(body))),
  assign: async (app: AppRow, row: ConversationRow, body: AssignConversation): Promise<Conversation> =>
    view(app, await changeConversation(changing, row, assignmentOf(body))),
  read: async (row: ConversationRow, { read = true }: ReadConversation) => {
    const changed = await changeConversation(changing, row, (before, now) => ({
      unread_count: read ? 0 : Math.max(before.unread_count, 1),
      read_at: read ? now : null,
    }));
    return { unread_count: changed.unread_count, read_at: changed.read_at?.toISOString() ?? null };
  },
});
