import { readEvents } from "./events.ts";
import { lead } from "./lead.ts";

/** What is counted of an inbox; `revision` grows with each change. */
export type InboxCounters = { unread_count: number; unseen_count: number; revision: number };

/** Counters, and whose they are. */
export type Counted = InboxCounters & { userId: string | null };

export type Listener = (counters: InboxCounters) => void;

export type Following = {
  ask: () => Promise<Counted>;
  /** The stream of the inbox. @throws HeraldError */
  open: (signal: AbortSignal) => Promise<Response>;
};

const longestSilenceMs = 15_000; // docs/reference/inbox.md#stream

/**
 * Follows counters for all tabs: the one that has the lock listens to them and tells the others. A tab that begins to listen, is
 * seen again, or has a network again, has that one say them at once.
 */
export const follow = (name: string, { ask, open }: Following) => {
  const listeners = new Set<Listener>();
  const channel = new BroadcastChannel(name);
  const listen = (signal: AbortSignal): Promise<number> =>
    listenTo((silent) => open(AbortSignal.any([signal, silent])), tell);
  const leading = lead(name, { ask: async () => tell(await ask()), listen });
  let last: Counted | null = null;

  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel is of one origin
  const post = (what: Counted | null): void => channel.postMessage(what);

  const hear = (counted: Counted): void => {
    if (!isNews(last, counted)) return;
    last = counted;
    for (const listener of listeners) listener(counted);
  };
  const tell = (counted: Counted): void => {
    hear(counted);
    post(counted);
  };
  const askNow = (): void => {
    if (document.hidden) return;
    leading.wake();
    post(null);
  };
  const answer = (): void => {
    if (leading.isLeading() && last !== null) post(last);
    leading.wake();
  };
  channel.addEventListener("message", ({ data }: MessageEvent<Counted | null>): void => {
    if (data === null) answer();
    else if (listeners.size > 0) hear(data);
  });

  return {
    tell,

    watch: (listener: Listener): (() => void) => {
      const own: Listener = (counters) => listener(counters); // so that one that is given twice is told twice
      listeners.add(own);
      if (last !== null) own(last);
      if (listeners.size === 1) {
        document.addEventListener("visibilitychange", askNow);
        addEventListener("online", askNow);
        leading.start();
      }
      askNow();
      return () => {
        if (!listeners.delete(own) || listeners.size > 0) return;
        document.removeEventListener("visibilitychange", askNow);
        removeEventListener("online", askNow);
        leading.stop();
        last = null; // it is not followed any more
      };
    },
  };
};

/** Gives up a stream of which nothing is heard any more. */
const listenTo = async (
  open: (silent: AbortSignal) => Promise<Response>,
  tell: (counted: Counted) => void,
): Promise<number> => {
  const silence = new AbortController();
  const silent = (): void => silence.abort();
  let timer = setTimeout(silent, longestSilenceMs);
  const heard = (): void => {
    clearTimeout(timer);
    timer = setTimeout(silent, longestSilenceMs);
  };
  const told = (data: string): void => {
    const { user_id: userId, unread_count, unseen_count, revision } = JSON.parse(data) as InboxCounters & Owner;
    tell({ userId, unread_count, unseen_count, revision });
  };
  try {
    const { body } = await open(silence.signal);
    return await readEvents(body ?? new ReadableStream(), { heard, told });
  } finally {
    clearTimeout(timer);
  }
};

type Owner = { user_id: string };

/** A reply that was overtaken is none. */
const isNews = (last: Counted | null, now: Counted): boolean => {
  if (last === null || last.userId !== now.userId || now.revision > last.revision) return true;
  const isSame = last.unread_count === now.unread_count && last.unseen_count === now.unseen_count;
  return now.revision === last.revision && !isSame; // something expired
};
