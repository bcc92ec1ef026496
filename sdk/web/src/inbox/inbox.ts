import { notModified } from "../http.ts";
import type { Installs } from "../install.ts";
import { type Counted, follow, type InboxCounters } from "./follow.ts";

/** What a message left for a person. */
export type InboxItem = {
  id: string;
  message_id: string;
  title: string | null;
  body: string | null;
  image_url: string | null;
  url: string | null;
  data: Record<string, string>;
  actions: { id: string; text: string; url: string | null }[];
  category: string | null;
  created_at: string;
  expires_at: string;
  seen_at: string | null;
  read_at: string | null;
  archived_at: string | null;
  snoozed_until: string | null;
};

export type InboxPage = InboxCounters & { data: InboxItem[]; next_cursor: string | null; has_more: boolean };

export type InboxView = "current" | "unread" | "unseen" | "archived" | "snoozed" | "all";

export type InboxState = "seen" | "read" | "unread" | "archived" | "unarchived" | "deleted" | "snoozed";

/** Which items a page has: 20 current ones, the newest first, when nothing is said. */
export type InboxPlace = { state?: InboxView; limit?: number; cursor?: string | null };

export type InboxChange = { ids: readonly string[] | "all"; state: InboxState; until?: Date };

/** The inbox of this browser's person. */
export type Inbox = {
  /** @throws HeraldError */
  page: (place?: InboxPlace) => Promise<InboxPage>;
  /** Changes items, in all tabs; `missing` are ids that are none of this inbox. @throws HeraldError */
  change: (change: InboxChange) => Promise<InboxCounters & { missing: string[] }>;
  /** Calls the listener with the counters, now and at each change, until the function that it gives is called. */
  watch: (listener: (counters: InboxCounters) => void) => () => void;
};

/** Reads and changes the inbox over the service; one tab follows it for all. */
export const inbox = (appId: string, { call, reach, current }: Pick<Installs, "call" | "reach" | "current">): Inbox => {
  const page = ({ state, limit, cursor }: InboxPlace = {}): Promise<InboxPage> => {
    const query = new URLSearchParams();
    for (const [name, value] of Object.entries({ state, limit, cursor }))
      if (value != null) query.set(name, `${value}`);
    return call<InboxPage>(`inbox?${query}`);
  };
  const counted = async (of: InboxCounters): Promise<Counted> => ({
    unread_count: of.unread_count,
    unseen_count: of.unseen_count,
    revision: of.revision,
    userId: (await current())?.userId ?? null,
  });
  const polled = poll(reach);
  const followed = follow(`herald-inbox-${appId}`, {
    ask: async () => counted(await polled()),
    open: (signal) => reach("inbox/stream", { signal }),
  });
  return {
    page,
    watch: followed.watch,
    change: async ({ ids, state, until }) => {
      const body = until === undefined ? { ids, state } : { ids, state, until: until.toISOString() };
      const changed = await call<InboxCounters & { missing: string[] }>("inbox/state", {
        method: "POST",
        body,
        keepalive: true,
      });
      followed.tell(await counted(changed));
      return changed;
    },
  };
};

/** Asks for the counters where there is no stream. What is as it was the last time is not sent again: docs/reference/inbox.md. */
const poll = (reach: Installs["reach"]): (() => Promise<InboxCounters>) => {
  let last: { tag: string; page: InboxPage } | null = null;
  return async () => {
    const reply = await reach("inbox?limit=1", last === null ? {} : { headers: { "If-None-Match": last.tag } });
    if (reply.status === notModified && last !== null) return last.page;
    const page = (await reply.json()) as InboxPage; // sound: the service's document says so
    const tag = reply.headers.get("ETag");
    last = tag === null ? null : { tag, page };
    return page;
  };
};
