import type { Db } from "mongodb";
import { type InboxEntry, isShown } from "../../domain/inbox/states.ts";
import type { OfApp } from "../mongo/collection.ts";
import { inboxes, inboxItemId, mostEntries, type StoredEntry } from "./inboxes.ts";
import type { InboxItemRow } from "./items.ts";

/** An item with its state, as a person sees it. */
export type ShownItem = InboxItemRow &
  Pick<InboxEntry, "seen_at" | "read_at" | "archived_at" | "snoozed_until"> & { id: string };

/** Where an item stands in the order of an inbox. */
export type InboxPlace = { at: Date; id: string };

/** What of an inbox is read: `limit` items behind a place, the newest first, of those that `among` says. */
export type InboxPage = {
  now: Date;
  after?: InboxPlace | null;
  limit?: number;
  among?: (entry: StoredEntry) => boolean;
};

/** A page of a person's inbox, with what is counted of all of it. */
export type ShownInbox = { revision: number; unread: number; unseen: number; items: ShownItem[] };

/** Reads inboxes: two reads by id, however many items a person has. */
export const shownInboxes = (db: Db) => {
  const { readStates, bodies } = inboxes(db);
  return async (
    of: OfApp,
    userId: string,
    { now, after = null, limit = mostEntries, among = () => true }: InboxPage,
  ): Promise<ShownInbox> => {
    const inbox = await readStates(of, userId, now);
    if (inbox === null) return { revision: 0, unread: 0, unseen: 0, items: [] };
    const newestFirst = (a: Place, b: Place): number =>
      b.at.getTime() - a.at.getTime() || (idOf(a, userId) < idOf(b, userId) ? 1 : -1);
    const there = inbox.entries.filter((entry) => isShown(entry, now) && among(entry));
    const behind = there.filter((entry) => after === null || newestFirst(entry, after) > 0);
    const page = behind.toSorted(newestFirst).slice(0, limit).map(inbox.withId);
    const rows = new Map((await bodies.read(page.map(({ id }) => id))).map((row) => [row._id, row]));
    const items = page.flatMap((entry) => {
      const row = rows.get(entry.id);
      return row === undefined ? [] : [itemOf(entry, row)];
    });
    return { revision: inbox.revision, unread: inbox.unread, unseen: inbox.unseen, items };
  };
};

/** An item with its state. */
export const itemOf = (entry: InboxEntry, row: InboxItemRow): ShownItem => {
  const { id, seen_at, read_at, archived_at, snoozed_until } = entry;
  return { ...row, id, ...stateOf({ seen_at, read_at, archived_at, snoozed_until }) };
};

type Place = InboxPlace | Pick<StoredEntry, "at" | "id" | "message_id">;

/** Looked at only where two items came at the same instant. */
const idOf = (place: Place, userId: string): string =>
  "message_id" in place ? (place.id ?? inboxItemId(place.message_id, userId)) : place.id;

type State = { [K in "seen_at" | "read_at" | "archived_at" | "snoozed_until"]: Date | undefined };

const stateOf = (state: State): Partial<Record<keyof State, Date>> =>
  Object.fromEntries(Object.entries(state).filter(([, at]) => at !== undefined));
