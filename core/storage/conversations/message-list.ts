import type { Db, Filter } from "mongodb";
import { searchedBy } from "../../domain/conversations/words.ts";
import { defined } from "../../domain/defined.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { readSlices, type Slices } from "../mongo/read-slices.ts";
import type { Within } from "../mongo/read-within.ts";
import type { ConversationRow } from "./conversation-row.ts";
import { type ConversationMessageRow, conversationMessageCollection } from "./message-row.ts";

export type MessageList = ReturnType<typeof messageList>;

export type MessageFilter = Partial<Pick<ConversationMessageRow, "direction" | "type">>;

type OfConversation = Pick<ConversationRow, "_id" | "tenant_id">;

const foundAtOnce = 1_000; // messages of one search
const countedAtMost = 10_000; // messages that are looked at behind one

/** Messages of a conversation in their order, and how many of them came later than one. */
export const messageList = (db: Db, slices?: Slices) => {
  const rows = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  return {
    page: async (
      { _id, tenant_id }: OfConversation,
      filter: MessageFilter,
      { limit, ...place }: PagePlace & { limit: number },
      signal: AbortSignal,
    ): Promise<Within<ConversationMessageRow>> => {
      const range = pageRange(null, {}, place);
      const wanted: Filter<ConversationMessageRow> = defined(filter);
      const { isDescending } = place;
      if (Object.keys(wanted).length > 0) {
        const list = {
          of: { conversation_id: _id },
          by: "position",
          range,
          isDescending,
          hint: "list",
          limit,
        } as const;
        return readSlices(rows, { ...list, wanted: { ...wanted, tenant_id } }, signal, slices);
      }
      const found = rows.find({ conversation_id: _id, position: range, tenant_id }, { hint: "list", signal });
      const sorted = found.sort({ position: isDescending ? -1 : 1 }).limit(limit);
      return { rows: await sorted.toArray(), isWhole: true };
    },

    /** How many messages of the person came behind a position, `most` at most. */
    countBehind: async ({ _id, tenant_id }: OfConversation, position: string, most: number): Promise<number> => {
      const behind = { conversation_id: _id, position: { $gt: position, $lt: "~" }, tenant_id };
      const found = rows
        .find(behind, { hint: "list", limit: countedAtMost })
        .project<Pick<ConversationMessageRow, "author">>({ author: 1 });
      let count = 0;
      for await (const { author } of found.sort({ position: -1 })) {
        if (author.type === "contact") count++;
        if (count >= most) break;
      }
      await found.close();
      return count;
    },
  };
};

/**
 * Finds the conversations in which a message of the last 90 days has all of some words: of each week, the latest first, until
 * 1,000 messages are found.
 */
export const searchMessages = (db: Db) => {
  const rows = collectionOf<ConversationMessageRow>(db, conversationMessageCollection);
  return async ({ tenantId, appId }: OfApp, words: readonly string[], now: Date): Promise<string[]> => {
    const found = new Set<string>();
    let left = foundAtOnce;
    for (const keys of searchedBy(words, now)) {
      if (left <= 0) break;
      const ofWeek = rows.find(
        { app_id: appId, words: { $gt: "", $all: keys }, tenant_id: tenantId },
        { hint: "words", projection: { conversation_id: 1 } },
      );
      const some = await ofWeek.limit(left).toArray();
      left -= some.length;
      for (const { conversation_id } of some) found.add(conversation_id);
    }
    return [...found];
  };
};
