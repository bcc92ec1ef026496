import type { Installs } from "../install.ts";
import { run } from "../store.ts";
import { type InAppMessage, mayShow, type Shown } from "./messages.ts";

/** What this browser knows of an app's in-app messages. */
export type InAppKept = {
  appId: string;
  /** Whose messages they are. */
  userId: string | null;
  /** `as_of` of the last reply. */
  asOf: string | null;
  askedMs: number;
  messages: InAppMessage[];
  shown: Record<string, Shown>;
};

type Reply = { messages: InAppMessage[]; ids: string[]; as_of: string };

type Install = Pick<Installs, "call" | "registered">;

const freshMs = 60_000;
const mostShown = 1_000; // an app has as many messages

export type InAppKepts = ReturnType<typeof inAppKept>;

/** The messages of this browser, in all of its tabs. */
export const inAppKept = (appId: string, install: Install) => {
  const locked = <T>(work: (kept: InAppKept) => Promise<T>): Promise<T> =>
    navigator.locks.request(`herald-in-app-${appId}`, async () => work((await read(appId)) ?? nothing(appId)));

  return {
    /** Asks the service for what is new unless that was done a moment ago; without a network what was there stays. */
    refresh: (): Promise<readonly InAppMessage[]> =>
      locked(async (kept) => {
        const { userId } = await install.registered();
        const isOwn = kept.userId === userId;
        if (isOwn && Date.now() - kept.askedMs < freshMs) return kept.messages;
        const reply = await fetched(install, isOwn ? kept : { ...kept, messages: [], asOf: null }).catch((error) => {
          if (isOwn && error instanceof TypeError) return kept;
          throw error;
        });
        const now = { ...kept, ...reply, userId, askedMs: Date.now() };
        await write(now);
        return now.messages;
      }),

    /** Takes one of the times that a message may be shown: gives what was before, or null when it may not. */
    take: (message: InAppMessage): Promise<{ isFirst: boolean } | null> =>
      locked(async (kept) => {
        const [before, nowMs] = [kept.shown[message.id], Date.now()];
        if (!mayShow(message, before, nowMs)) return null;
        const shown = { ...before, count: (before?.count ?? 0) + 1, lastMs: nowMs };
        await write({ ...kept, shown: youngest({ ...kept.shown, [message.id]: shown }) });
        return { isFirst: before === undefined };
      }),

    /** Remembers what was done with one; whether it was the first time. */
    note: (id: string, what: "isClicked" | "isDismissed"): Promise<boolean> =>
      locked(async (kept) => {
        const before = kept.shown[id] ?? { count: 0, lastMs: Date.now() };
        await write({ ...kept, shown: { ...kept.shown, [id]: { ...before, [what]: true } } });
        return before[what] !== true;
      }),
  };
};

const nothing = (appId: string): InAppKept => ({
  appId,
  userId: null,
  asOf: null,
  askedMs: 0,
  messages: [],
  shown: {},
});

const read = (appId: string): Promise<InAppKept | undefined> => run("inApp", "readonly", (store) => store.get(appId));

const write = (kept: InAppKept): Promise<unknown> => run("inApp", "readwrite", (store) => store.put(kept));

/** What changed since the last time; all, where one is missing that was there before this browser's person was meant. */
const fetched = async (
  { call }: Install,
  { asOf, messages }: InAppKept,
): Promise<Pick<InAppKept, "asOf" | "messages">> => {
  const since = asOf === null ? "" : `?since=${encodeURIComponent(asOf)}`;
  const reply = await call<Reply>(`in-app-messages${since}`);
  const known = new Map([...messages, ...reply.messages].map((one) => [one.id, one]));
  const wanted = reply.ids.flatMap((id) => known.get(id) ?? []);
  if (wanted.length === reply.ids.length) return { asOf: reply.as_of, messages: wanted };
  const all = await call<Reply>("in-app-messages");
  return { asOf: all.as_of, messages: all.messages };
};

const youngest = (shown: Record<string, Shown>): Record<string, Shown> =>
  Object.fromEntries(
    Object.entries(shown)
      .sort(([, a], [, b]) => b.lastMs - a.lastMs)
      .slice(0, mostShown),
  );
