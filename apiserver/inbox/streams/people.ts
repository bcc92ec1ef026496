import { changesFrom, inboxFrom } from "#core/domain/inbox/revisions.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Reader } from "./reader.ts";
import { type InboxRead, type InboxReadsDeps, inboxReads, type Since } from "./reads.ts";
import { eventText } from "./text.ts";

/** A stream as far as its person's inbox goes. */
export type Watcher = {
  reader: Reader;
  userId: string;
  /** What came before is not there for its reader; null: everything is. */
  from: Date | null;
  /** What its reader knows; null before the first event, unless it has said so itself. */
  revision: Since;
  /** Whether it has had an event of this person. */
  isGreeted: boolean;
  /** Something may have changed since it was told last. */
  isBehind: boolean;
  /** Whether it is told to read the inbox anew, as it is another person's than before, or more of it is there. */
  isMoved: boolean;
};

export type People = {
  /** Shows a person's inbox to a stream, from now on. */
  watch: (watcher: Watcher) => void;
  unwatch: (watcher: Watcher) => void;
  /** Tells a reader that is ready what it does not know yet. */
  refresh: (userId: string) => void;
  /** Everybody whose inbox is watched, with the revision that was read last. */
  all: () => ReadonlyMap<string, { revision: number }>;
};

export type PeopleDeps = Omit<InboxReadsDeps, "sinceOf"> & {
  /** Calls back when a person's inbox may have changed. */
  listen: (userId: string, listener: () => void) => () => void;
  onError: (error: unknown) => void;
};

type Person = { watchers: Set<Watcher>; revision: number; isReading: boolean; isStale: boolean; stop: () => void };

const mostRead = 200;
const reads = 2;

/** The people whose inboxes are shown just now. However often one changes meanwhile, it is read once at a time. */
export const watchedPeople = ({ inboxes, listen, clock, onError }: PeopleDeps): People => {
  const people = new Map<string, Person>();
  const sinceOf = (userId: string): Since[] => Array.from(people.get(userId)?.watchers ?? [], (one) => one.revision);
  const readAll = inboxReads({ inboxes, sinceOf, clock });
  const orNone = (userIds: readonly string[]): Promise<(InboxRead | null)[]> =>
    readAll(userIds).catch((error: unknown) => {
      onError(error);
      return userIds.map(() => null);
    });
  const read = gather<string, InboxRead | null>({ write: orNone, most: mostRead, inFlight: reads });

  const follow = async (userId: string, person: Person): Promise<void> => {
    person.isReading = true;
    do {
      person.isStale = false;
      const now = await read(userId);
      person.revision = now?.inbox.revision ?? unread;
      if (now === null) setTimeout(refresh, againMs, userId).unref();
      else for (const watcher of person.watchers) tellOrEnd(watcher, now, onError);
    } while (person.isStale && person.watchers.size > 0);
    person.isReading = false;
  };

  const refresh = (userId: string): void => {
    const person = people.get(userId);
    if (person === undefined) return;
    person.isStale = true;
    if (!person.isReading) void follow(userId, person);
  };

  return {
    watch: (watcher) => {
      const { userId } = watcher;
      const person = people.get(userId) ?? { ...untouched, watchers: new Set() };
      person.watchers.add(watcher);
      if (!people.has(userId)) {
        people.set(userId, person);
        person.stop = listen(userId, () => refresh(userId));
      }
    },
    unwatch: (watcher) => {
      const person = people.get(watcher.userId);
      person?.watchers.delete(watcher);
      if (person === undefined || person.watchers.size > 0) return;
      person.stop();
      people.delete(watcher.userId);
    },
    refresh,
    all: () => people,
  };
};

const againMs = 1_000; // after a read that failed
const unread = -1; // no inbox has that: it differs from what is stored
const untouched = { revision: unread, isReading: false, isStale: false, stop: () => undefined };

/** A reader who cannot be told is let go, and comes back: an item that was damaged ends no other stream. */
const tellOrEnd = (watcher: Watcher, now: InboxRead, onError: PeopleDeps["onError"]): void => {
  try {
    tell(watcher, now);
  } catch (error) {
    onError(error);
    watcher.reader.close();
  }
};

const tell = (watcher: Watcher, read: InboxRead): void => {
  const { reader, revision, isGreeted, isMoved, from } = watcher;
  const { userId, inbox, changes, rows, now } = read;
  watcher.isBehind = !reader.isReady() || !changes.has(revision);
  if (watcher.isBehind || (isGreeted && revision === inbox.revision)) return;
  const all = isMoved ? null : (changes.get(revision) ?? null);
  const told = from === null || all === null ? all : changesFrom(inbox, all, from);
  reader.put(eventText({ userId, inbox: from === null ? inbox : inboxFrom(inbox, from, now) }, told, rows));
  Object.assign(watcher, { revision: inbox.revision, isGreeted: true, isMoved: false });
};
