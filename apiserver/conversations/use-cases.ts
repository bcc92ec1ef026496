import type { Db } from "mongodb";
import type { Clock } from "#core/domain/clock.ts";
import type { ApiserverMetrics } from "#core/runtime/metrics/apiserver.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { AssignConversation, Conversation, UpdateConversation } from "#core/schema/conversations/conversation.ts";
import type { ConversationMessage, ConversationNote } from "#core/schema/conversations/message.ts";
import type { ContactChannel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { arrivals } from "#core/storage/conversations/arrivals.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import { conversations as conversationStore } from "#core/storage/conversations/conversations.ts";
import { conversationCounts } from "#core/storage/conversations/counts.ts";
import { conversationList } from "#core/storage/conversations/list.ts";
import { messageList, searchMessages } from "#core/storage/conversations/message-list.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import { notes } from "#core/storage/conversations/notes.ts";
import { touching } from "#core/storage/conversations/touching.ts";
import type { FileStore } from "#core/storage/files/store.ts";
import { deliveries } from "#core/storage/messages/deliveries.ts";
import { collectionOf, type OfApp, ofRow } from "#core/storage/mongo/collection.ts";
import { inPages } from "#core/storage/mongo/pages.ts";
import { contacts } from "#core/storage/people/contacts.ts";
import { usersNamed } from "#core/storage/people/named.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { aliasKey, type UserRow, userCollection } from "#core/storage/people/users.ts";
import { makeContacts } from "../accepting/make-contacts.ts";
import { existing } from "../http/locate.ts";
import type { Cursors } from "../http/pages.ts";
import { billableCount } from "../limits/billable-count.ts";
import type { ConversationOutbox } from "../publishing/conversation-outbox.ts";
import type { PeopleOutbox } from "../publishing/people-outbox.ts";
import { assignmentOf, type ChangeDeps, changeConversation, updateOf } from "./change.ts";
import { type CreateDeps, type Creating, createConversation } from "./create.ts";
import { lists } from "./lists.ts";
import { markRead } from "./mark.ts";
import { addNote, type NewNote } from "./note.ts";
import { personOf } from "./person.ts";
import { type AcceptNotification, type Reply, reply } from "./reply.ts";
import { conversationStats } from "./stats.ts";
import { noteView, type Views, views } from "./views.ts";

export type ConversationPlatform = {
  db: Db;
  cursors: Cursors;
  files: Pick<FileStore, "kind" | "addressOf">;
  acceptNotification: AcceptNotification;
  outboxes: { people: PeopleOutbox; conversations: Pick<ConversationOutbox, "publish"> };
  clock: Clock;
  log: Log;
  metrics: Pick<ApiserverMetrics, "conversationReplies">;
};

export type ConversationUse = ReturnType<typeof conversationUseCases>;

/** What the operations on conversations do. */
export const conversationUseCases = (platform: ConversationPlatform) => {
  const { db, clock, cursors, files, outboxes } = platform;
  const store = conversationStore(db, clock);
  const [messages, ofNotes] = [messageList(db), notes(db)];
  const { subscriptionsOf, ...people } = peopleOf(db);
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
  const find = async (of: OfApp, id = ""): Promise<ConversationRow> =>
    existing(await store.find(of, id), "conversation");
  const touch = touching(platform);
  const publish = (row: ConversationRow): void => {
    outboxes.conversations.publish(row);
    touch(ofRow(row));
  };
  const changing = { conversations: store, publish, clock };
  const replying = {
    ...changing,
    accept: platform.acceptNotification,
    count: (channel: ContactChannel): void => platform.metrics.conversationReplies.inc({ channel }),
    subscriptionsOf,
    messagesOf: store.messagesOf,
  };
  const made = {
    ...replying,
    arrivals: arrivals(db, clock),
    personOf: personOf({ ...contactsOf(platform), ...people, subscriptionsOf, clock }),
  };
  return {
    find,
    view,
    ...lists({
      page: conversationList(db),
      messages,
      search: searchMessages(db),
      notes: ofNotes,
      userIdOf: people.userIdOf,
      show,
      cursors,
      clock,
    }),
    stats: conversationStats({ counts: conversationCounts(db), page: conversationList(db), clock }),
    ...writing(made, { show, view }),
    ...changes(changing, view),
    read: markRead({ ...changing, messages, messagesOf: store.messagesOf }),
    note: async (asked: NewNote): Promise<ConversationNote> =>
      noteView(await addNote({ notes: ofNotes, clock })(asked)),
    shownNote: async (row: ConversationRow, id: string): Promise<ConversationNote> =>
      noteView(existing(await ofNotes.find(row, id), "note")),
  };
};

/** Makes people of addresses that are written to first, as notifications do. */
const contactsOf = ({ db, clock, outboxes }: ConversationPlatform) => ({
  contacts: contacts(db),
  ...makeContacts({ contacts: contacts(db), countBillable: billableCount(db, clock), publish: outboxes.people }),
});

type Shown = { show: Views; view: View };

const writing = (made: CreateDeps, { show, view }: Shown) => {
  const [answer, create] = [reply(made), createConversation(made)];
  const shown = async (rows: readonly ConversationMessageRow[]): Promise<ConversationMessage> => {
    const [one] = await show.messages(rows);
    return existing(one ?? null, "message");
  };
  return {
    reply: async (asked: Reply, signal: AbortSignal): Promise<ConversationMessage> =>
      shown([await answer(asked, signal)]),
    shownMessage: async (id: string): Promise<ConversationMessage> => shown(await made.messagesOf([id])),
    create: async (asked: Creating, signal: AbortSignal): Promise<{ body: Conversation; status: number }> => {
      const row = await create(asked, signal);
      return { body: await view(asked.app, row), status: row._id === asked.conversationId ? 201 : 200 };
    },
  };
};

/** People as conversations look for them. */
const peopleOf = (db: Db) => {
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const users = collectionOf<UserRow>(db, userCollection);
  const userIdOf = async (of: OfApp, externalId: string): Promise<string | null> => {
    const [user] = await usersNamed(users, of, [aliasKey("external_id", externalId)]);
    return user?._id ?? null;
  };
  return {
    userIdOf,
    subscriptionsOf: (ids: readonly string[]): Promise<SubscriptionRow[]> =>
      inPages(ids, idsAtOnce, (some) =>
        subscriptions.find({ _id: { $in: some } }, { batchSize: some.length + 1 }).toArray(),
      ),
    subscriptionsNamed: async (of: OfApp, externalId: string, channel: string): Promise<SubscriptionRow[]> => {
      const userId = await userIdOf(of, externalId);
      if (userId === null) return [];
      const all = { app_id: of.appId, user_id: userId, tenant_id: of.tenantId };
      const found = await subscriptions.find(all, { hint: "user", batchSize: idsAtOnce }).toArray(); // 100 at most
      return found.filter((row) => row.channel === channel);
    },
  };
};

const idsAtOnce = 500;

type View = (app: AppRow, row: ConversationRow) => Promise<Conversation>;

const changes = (changing: ChangeDeps, view: View) => ({
  update: async (app: AppRow, row: ConversationRow, body: UpdateConversation): Promise<Conversation> =>
    view(app, await changeConversation(changing, row, updateOf(body))),
  assign: async (app: AppRow, row: ConversationRow, body: AssignConversation): Promise<Conversation> =>
    view(app, await changeConversation(changing, row, assignmentOf(body))),
});
