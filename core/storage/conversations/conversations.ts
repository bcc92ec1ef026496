import type { Db } from "mongodb";
import { defined } from "../../domain/defined.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type PagePlace, pageRange, type SortPosition, sortedPage } from "../mongo/page-range.ts";
import { arrivals } from "./arrivals.ts";
import { type ConversationRow, conversationCollection } from "./conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";

export type Conversations = ReturnType<typeof conversations>;

/** What a list may be narrowed by. */
export type ConversationFilter = {
  status?: ConversationRow["status"];
  assigneeId?: string;
  userId?: string;
  contactAddress?: string;
};

/** Conversations as the REST interface reads and changes them. */
export const conversations = (db: Db) => {
  const rows = collectionOf<ConversationRow>(db, conversationCollection);
  const messages = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  const { change, keep, stored } = arrivals(db);
  return {
    find: ({ tenantId, appId }: OfApp, id: string): Promise<ConversationRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    /** One page of an app's, by when they were changed. */
    page: (
      { tenantId, appId }: OfApp,
      { status, assigneeId, userId, contactAddress }: ConversationFilter,
      { limit, ...place }: { after: SortPosition | null; isDescending: boolean; limit: number },
    ): Promise<ConversationRow[]> => {
      const { filter, sort } = sortedPage("updated_at", place);
      const narrowed = defined({
        status,
        assignee_id: assigneeId,
        user_id: userId,
        contact_address: contactAddress,
      });
      return rows
        .find(
          { app_id: appId, ...narrowed, ...filter, tenant_id: tenantId },
          { hint: indexOf({ status, assigneeId, userId, contactAddress }) },
        )
        .project<ConversationRow>({ appended: 0 })
        .sort(sort)
        .limit(limit)
        .toArray();
    },

    /** Messages of these ids. */
    messagesOf: stored,

    /** One page of a conversation's messages, in the order in which they came. */
    messagePage: (
      { _id, tenant_id }: Pick<ConversationRow, "_id" | "tenant_id">,
      { limit, ...place }: PagePlace & { limit: number },
    ): Promise<ConversationMessageRow[]> =>
      messages
        .find({ conversation_id: _id, position: pageRange(null, {}, place), tenant_id }, { hint: "list" })
        .sort({ position: place.isDescending ? -1 : 1 })
        .limit(limit)
        .toArray(),

    /** Changes one, and stores the messages that it came to have; false when it is no longer as it was read. */
    put: async (read: ConversationRow, after: ConversationRow): Promise<boolean> => {
      if (after.appended !== read.appended) await keep(read.appended); // they may not be stored yet
      if (!(await change([{ read, after }]))) return false;
      if (after.appended !== read.appended) await keep(after.appended);
      return true;
    },

    /** Stores the messages that a conversation came to have last, where whoever changed it was cut off before that. */
    keepLast: ({ appended }: Pick<ConversationRow, "appended">): Promise<void> => keep(appended),
  };
};

const indexOf = ({
  assigneeId,
  userId,
  contactAddress,
  status,
}: Partial<Record<keyof ConversationFilter, unknown>>) => {
  if (userId !== undefined) return "person";
  if (contactAddress !== undefined) return "contact";
  if (assigneeId !== undefined) return status === undefined ? "assignee" : "assignee_status";
  return status === undefined ? "list" : "status";
};
