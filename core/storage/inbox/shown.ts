import type { Db } from "mongodb";
import { type InboxPlace, type PageAsked, pageIn, partFor } from "../../domain/inbox/pages.ts";
import type { InboxEntry } from "../../domain/inbox/states.ts";
import type { OfApp } from "../mongo/collection.ts";
import { inboxItemId, mostEntries, type StoredEntry } from "./inboxes.ts";
import { type InboxItemRow, inboxItems } from "./items.ts";
import { inboxParts, type PartAsked } from "./parts.ts";

/** An item with its state, as a person sees it. */
export type ShownItem = InboxItemRow &
  Pick<InboxEntry, "seen_at" | "read_at" | "archived_at" | "snoozed_until"> & { id: string };

/** What of an inbox is read: `limit` items behind a place, the newest first, of those that `among` says. */
export type InboxPage = {
  now: Date;
  after?: InboxPlace | null;
  limit?: number;
  /** What came before is neither shown nor counted; null, or left out: everything is. */
  from?: Date | null;
  among?: (entry: StoredEntry) => boolean;
};

/** A page of a person's inbox, where its items stand, and what is counted of all of the inbox. */
export type ShownInbox = {
  revision: number;
  unread: number;
  unseen: number;
  items: ShownItem[];
  placeOf: (item: ShownItem) => Required<InboxPlace>;
};

/** Reads inboxes: what a page shows costs two reads by id, of its states and its items. Source: docs/decisions/0194. */
export const shownInboxes = (db: Db) => {
  const [readPart, bodies] = [inboxParts(db), inboxItems(db)];
  return async (
    of: OfApp,
    userId: string,
    { now, after = null, limit = mostEntries, from = null, among = () => true }: InboxPage,
  ): Promise<ShownInbox> => {
    const idOf = (entry: StoredEntry): string => entry.id ?? inboxItemId(entry.message_id, userId);
    const asked: PageAsked = {
      now,
      after,
      limit,
      among: (entry) => (from === null || entry.at >= from) && among(entry),
      idOf,
    };
    const inPart = async (part: PartAsked | null) => {
      const read = await readPart(of, userId, part, { now, from });
      return { read, page: read === null ? [] : pageIn(read, asked) };
    };
    const first = await inPart(partFor(asked));
    const { read, page } = first.page === null ? await inPart(null) : first;
    const placed = (page ?? []).map(({ entry, index }) => ({ entry: { ...entry, id: idOf(entry) }, index }));
    const rows = new Map((await bodies.read(placed.map(({ entry }) => entry.id))).map((row) => [row._id, row]));
    const places = new Map(placed.map(({ entry: { id, at }, index }) => [id, { at, id, index }]));
    const items = placed.flatMap(({ entry }) => {
      const row = rows.get(entry.id);
      return row === undefined ? [] : [itemOf(entry, row)];
    });
    const { revision, unread, unseen } = read ?? { revision: 0, unread: 0, unseen: 0 };
    return { revision, unread, unseen, items, placeOf: ({ id }) => places.get(id) ?? lost(id) };
  };
};

const lost = (id: string): never => {
  throw new Error(`${id} is no item of this page`);
};

/** An item with its state. */
export const itemOf = (entry: InboxEntry, row: InboxItemRow): ShownItem => {
  const { id, seen_at, read_at, archived_at, snoozed_until } = entry;
  return { ...row, id, ...stateOf({ seen_at, read_at, archived_at, snoozed_until }) };
};

type State = { [K in "seen_at" | "read_at" | "archived_at" | "snoozed_until"]: Date | undefined };

const stateOf = (state: State): Partial<Record<keyof State, Date>> =>
  Object.fromEntries(Object.entries(state).filter(([, at]) => at !== undefined));
