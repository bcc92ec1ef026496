import type { Db, Filter } from "mongodb";
import { type ConversationRow, conversationCollection } from "../conversations/conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "../conversations/message-row.ts";
import { collectionOf, longAgo, type OfApp } from "../mongo/collection.ts";
import { pageRange, sortedPage } from "../mongo/page-range.ts";
import { exportPage } from "./pages.ts";

type Times = { from?: Date | undefined; to?: Date | undefined };

/** What is read of conversations; `times`: when they began. */
export type ConversationReading = { filter: Filter<ConversationRow>; times: Times };

/** Reads the conversations of an app as they began, page by page. Each is read once. */
export async function* conversationPages(
  db: Db,
  { tenantId, appId }: OfApp,
  { filter, times: { from, to } }: ConversationReading,
): AsyncGenerator<ConversationRow[]> {
  const rows = collectionOf<ConversationRow>(db, conversationCollection);
  const began = { created_at: { $gte: from ?? longAgo, ...(to !== undefined && { $lte: to }) } };
  for (let last: ConversationRow | undefined; ; ) {
    const after = last === undefined ? null : { value: last.created_at, id: last._id };
    const { filter: behind, sort } = sortedPage("created_at", { after, isDescending: false });
    const wanted = { $and: [filter, began, behind], app_id: appId, tenant_id: tenantId, gone: { $ne: true } };
    const page: ConversationRow[] = await rows
      .find(wanted as Filter<ConversationRow>, { hint: "created", batchSize: exportPage + 1 }) // sound: of these members
      .project<ConversationRow>({ appended: 0, outbox: 0, counted: 0 })
      .sort(sort)
      .limit(exportPage)
      .toArray();
    if (page.length > 0) yield page;
    if (page.length < exportPage) return;
    last = page.at(-1);
  }
}

/** Reads the messages of an app's conversations, one conversation after the other; `times`: when they were stored. */
export async function* conversationMessagePages(
  db: Db,
  of: OfApp,
  { filter, times }: { filter: Filter<ConversationRow>; times: Times },
): AsyncGenerator<ConversationMessageRow[]> {
  const rows = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  for await (const page of conversationPages(db, of, { filter, times: { to: times.to } }))
    yield* messagesOf(rows, of, { ids: page.map(({ _id }) => _id).toSorted(), times });
}

type Rows = ReturnType<typeof collectionOf<ConversationMessageRow>>;

/** The first page is read of all that are left at once; who has more than a page is read alone. */
async function* messagesOf(
  rows: Rows,
  { tenantId }: OfApp,
  { ids, times }: { ids: readonly string[]; times: Times },
): AsyncGenerator<ConversationMessageRow[]> {
  let [left, after]: [readonly string[], string | null] = [ids, null];
  while (left.length > 0) {
    const [first = ""]: readonly string[] = left;
    const position = pageRange(null, times, { after, isDescending: false });
    const conversation_id = after === null ? { $in: [...left] } : first;
    const page: ConversationMessageRow[] = await rows
      .find({ conversation_id, position, tenant_id: tenantId }, { hint: "list", batchSize: exportPage + 1 })
      .project<ConversationMessageRow>({ words: 0 })
      .sort({ conversation_id: 1, position: 1 })
      .limit(exportPage)
      .toArray();
    if (page.length > 0) yield page;
    const last = page.at(-1);
    if (last !== undefined && page.length === exportPage) {
      left = left.slice(left.indexOf(last.conversation_id));
      after = last.position;
    } else {
      left = after === null ? [] : left.slice(1);
      after = null;
    }
  }
}
