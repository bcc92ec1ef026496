import type { InboxCounters } from "./follow.ts";
import type { Inbox, InboxItem } from "./inbox.ts";

const pageSize = 20;
const mostAtOnce = 100; // as the service gives them

/** The items that are shown, the newest first. */
export const listed = (inbox: Inbox, show: (items: readonly InboxItem[], hasMore: boolean) => void) => {
  let items: readonly InboxItem[] = [];
  let cursor: string | null = null;
  let asked = 0;

  return {
    find: (id: string | undefined): InboxItem | undefined => items.find((one) => one.id === id),

    /** As many as were there, anew. Of replies that overtake each other the one that was asked for last is shown. */
    reload: async (): Promise<InboxCounters> => {
      const turn = ++asked;
      const page = await inbox.page({ limit: Math.min(mostAtOnce, Math.max(pageSize, items.length)) });
      if (turn === asked) {
        items = page.data;
        cursor = page.next_cursor;
        show(items, page.has_more);
      }
      return page;
    },

    more: async (): Promise<void> => {
      const turn = ++asked;
      const page = await inbox.page({ limit: pageSize, cursor });
      if (turn !== asked) return;
      items = [...items, ...page.data];
      cursor = page.next_cursor;
      show(items, page.has_more);
    },
  };
};
