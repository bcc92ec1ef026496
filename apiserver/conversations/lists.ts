import type { Clock } from "#core/domain/clock.ts";
import { wordsOf } from "#core/domain/conversations/words.ts";
import { defined } from "#core/domain/defined.ts";
import { invalid } from "#core/errors.ts";
import {
  type Conversation,
  type ConversationListQuery,
  conversationPaging,
  conversationStatuses,
} from "#core/schema/conversations/conversation.ts";
import {
  type ConversationMessage,
  type ConversationMessageListQuery,
  type ConversationNote,
  type ConversationNoteListQuery,
  conversationMessagePaging,
  conversationNotePaging,
} from "#core/schema/conversations/message.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { ConversationRow } from "#core/storage/conversations/conversation-row.ts";
import {
  type ConversationFilter,
  type ConversationSort,
  type conversationList,
  positionIn,
} from "#core/storage/conversations/list.ts";
import type { MessageList, searchMessages } from "#core/storage/conversations/message-list.ts";
import type { ConversationMessageRow } from "#core/storage/conversations/message-row.ts";
import type { NoteRow, Notes } from "#core/storage/conversations/notes.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { PagePlace, SortPosition } from "#core/storage/mongo/page-range.ts";
import { type Cursors, type Page, readPage } from "../http/pages.ts";
import { noteView, type Views } from "./views.ts";

export type ListDeps = {
  page: ReturnType<typeof conversationList>;
  messages: MessageList;
  notes: Pick<Notes, "page">;
  search: ReturnType<typeof searchMessages>;
  /** The user whom an app knows by an id of its own; null when there is none. */
  userIdOf: (of: OfApp, externalId: string) => Promise<string | null>;
  show: Views;
  cursors: Cursors;
  clock: Clock;
};

/** The lists of conversations, of their messages and of their notes. */
export const lists = (deps: ListDeps) => ({
  list: async (app: AppRow, query: ConversationListQuery): Promise<Page<Conversation>> => {
    const filter = await filterOf(deps, app, query);
    const page = await readPage<ConversationRow, ConversationRow, SortPosition>({
      cursors: deps.cursors,
      paging: conversationPaging,
      list: `conversations/${app._id}`,
      query,
      // sound: the sort of the query is one of these
      read: async ({ sort, ...place }) =>
        filter === null ? [] : deps.page(ofApp(app), filter, { ...place, sort: sort as ConversationSort }),
      positionOf: (row, sort) => positionIn(sort as ConversationSort)(row), // the same
      view: (row) => row,
    });
    return { ...page, data: await deps.show.conversations(app, page.data) };
  },

  messages: async (
    row: ConversationRow,
    query: ConversationMessageListQuery,
    signal: AbortSignal,
  ): Promise<Page<ConversationMessage>> => {
    const { direction, type, include_notes: isWithNotes = false } = query;
    const isNarrowed = direction !== undefined || type !== undefined;
    if (isWithNotes && isNarrowed) throw invalid("include_notes", "cannot be combined with direction or type");
    const page = await readPage<Entry, Entry>({
      cursors: deps.cursors,
      paging: conversationMessagePaging,
      list: `conversation_messages/${row._id}`,
      query,
      read: async (place) =>
        isWithNotes
          ? entries(deps, row, place, signal)
          : deps.messages.page(row, defined({ direction, type }), place, signal),
      positionOf: ({ position }) => position,
      view: (one) => one,
    });
    return { ...page, data: await deps.show.entries(page.data) };
  },

  notes: async (row: ConversationRow, query: ConversationNoteListQuery): Promise<Page<ConversationNote>> =>
    readPage({
      cursors: deps.cursors,
      paging: conversationNotePaging,
      list: `conversation_notes/${row._id}`,
      query,
      read: (place) => deps.notes.page(row, place),
      positionOf: ({ position }) => position,
      view: noteView,
    }),
});

type Entry = ConversationMessageRow | NoteRow;

/** Messages and notes in one order. */
const entries = async (
  { messages, notes }: Pick<ListDeps, "messages" | "notes">,
  row: ConversationRow,
  place: PagePlace & { limit: number },
  signal: AbortSignal,
): Promise<Entry[]> => {
  const [said, noted] = await Promise.all([messages.page(row, {}, place, signal), notes.page(row, place)]);
  const way = place.isDescending ? -1 : 1;
  const all: Entry[] = [...said.rows, ...noted];
  return all.toSorted((a, b) => way * (a.position < b.position ? -1 : 1)).slice(0, place.limit);
};

/** What a query narrows a list by; null when nothing can be in it. */
const filterOf = async (
  deps: ListDeps,
  app: AppRow,
  { q, status, external_id: externalId, ...query }: ConversationListQuery,
): Promise<ConversationFilter | null> => {
  const found = externalId === undefined ? undefined : await deps.userIdOf(ofApp(app), externalId);
  if (found === null || (found !== undefined && query.user_id !== undefined && query.user_id !== found)) return null;
  const words = q === undefined ? undefined : wordsOf(q);
  if (words?.length === 0) throw invalid("q", "must have a word of two letters or digits");
  const ids = words && (await deps.search(ofApp(app), words, deps.clock.now()));
  if (ids?.length === 0) return null;
  return defined({
    statuses: status && statusesOf(status),
    assigneeId: query.assignee_id,
    userId: found ?? query.user_id,
    contactAddress: query.contact_address,
    channel: query.channel,
    tag: query.tag,
    priority: query.priority,
    handledBy: query.handled_by,
    isUnread: query.unread,
    ids,
  });
};

const statusesOf = (asked: NonNullable<ConversationListQuery["status"]>): ConversationRow["status"][] =>
  conversationStatuses.filter(
    (status) => asked.includes(status) || (status !== "closed" && asked.includes("unresolved")),
  );
