import type { Collection, Db } from "mongodb";
import { derivedId } from "../../domain/ids.ts";
import type { EntryOfPage } from "../../domain/inbox/pages.ts";
import { type DroppedItem, inboxFrom, numbered, type RevisedInbox, revised } from "../../domain/inbox/revisions.ts";
import {
  changedEntries,
  type InboxChange,
  type InboxEntry,
  type InboxStates,
  statesOf,
  withEntry,
} from "../../domain/inbox/states.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { findIds } from "../mongo/pages.ts";
import { type InboxItemRow, inboxItems } from "./items.ts";

/** Without an id it has that of its message and person: one that came with a merged user brings its own. */
export type StoredEntry = EntryOfPage;

/**
 * A person's inbox: the states of their items and what is counted of them, which one conditional write changes together.
 * `_id` is the user's id; `revision` grows with every change. Source: docs/decisions/0143.
 */
export type InboxRow = Omit<InboxStates, "entries"> & {
  _id: string;
  tenant_id: string;
  app_id: string;
  revision: number;
  entries: StoredEntry[];
  /** None when left out. */
  dropped?: readonly DroppedItem[];
  updated_at: Date;
};

export const inboxCollection: CollectionSpec = {
  name: "inboxes",
  indexes: [{ key: { app_id: 1 }, name: "app" }],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { member: "_id" },
  retention: { kept: "as long as its person; items that expired leave it with the next change" },
};

/** The id of what a message leaves in a person's inbox. */
export const inboxItemId = (messageId: string, userId: string): string => derivedId("inboxItem", messageId, userId);

/** An inbox as it is at an instant. */
export type Inbox = RevisedInbox;

/** What one message leaves in the inboxes of some people, at most `most` in each. */
export type Arrivals = { messageId: string; items: readonly InboxItemRow[]; most: number; now: Date };

/** A change of a person's items: of those with these ids, or of all. */
export type ChangeAsked = {
  userId: string;
  ids: readonly string[] | "all";
  now: Date;
  /** What came before is left as it is, and not counted in what is given back. */
  from: Date | null;
} & InboxChange;

const idsFrom = (entries: readonly InboxEntry[], named: ReadonlySet<string> | "all", from: Date): Set<string> =>
  new Set(entries.flatMap(({ id, at }) => (at >= from && (named === "all" || named.has(id)) ? [id] : [])));

export type Inboxes = ReturnType<typeof inboxes>;

export const inboxes = (db: Db) => {
  const rows = collectionOf<InboxRow>(db, inboxCollection);
  const bodies = inboxItems(db);
  const { changeOne, findOne } = changing(rows, bodies);
  return {
    ...arriving(rows, bodies, changeOne),

    ...reading(rows),

    /**
     * Changes items of a person (`all`: each) in one write with what is counted; gives the inbox as it is then. With `from` it is
     * about what came then or later alone.
     */
    change: async ({ userId, ids, now, from, ...change }: ChangeAsked): Promise<Inbox | null> => {
      const named = ids === "all" ? ids : new Set(ids);
      const meant = (entries: readonly InboxEntry[]) => (from === null ? named : idsFrom(entries, named, from));
      const inbox = await changeOne(userId, (entries) => changedEntries(entries, meant(entries), change, now), now);
      return inbox === null || from === null ? inbox : inboxFrom(inbox, from, now);
    },

    /** Makes the items of a user those of another one, who has them once. May run twice. */
    join: async ({ tenantId, appId }: OfApp, from: string, into: string, now: Date): Promise<void> => {
      const source = await findOne(from);
      if (source === null) return;
      const moved = entriesOf(source);
      await bodies.give(
        moved.map(({ id }) => id),
        into,
      );
      await insertMissing(rows, [emptyInbox(into, { tenant_id: tenantId, app_id: appId }, now)]);
      const most = mostEntries;
      await changeOne(into, (entries) => joined(entries, moved, { most, now }), now);
      await rows.deleteOne({ _id: from });
    },

    bodies,
  };
};

const reading = (rows: Collection<InboxRow>) => {
  const findOne = async ({ tenantId, appId }: OfApp, userId: string): Promise<InboxRow | null> => {
    const row = await rows.findOne({ _id: userId });
    return row?.tenant_id === tenantId && row.app_id === appId ? row : null;
  };
  return {
    /** A person's inbox, null for one who never had an item. What is counted holds for `now`. */
    read: async (of: OfApp, userId: string, now: Date): Promise<Inbox | null> => {
      const row = await findOne(of, userId);
      return row && inboxAt(row, now);
    },

    /** The inboxes of at most 500 people, by their ids; who never had an item has none. */
    readMany: async (userIds: readonly string[], now: Date): Promise<Map<string, Inbox>> => {
      const found = await rows.find({ _id: { $in: [...userIds] } }, { batchSize: userIds.length + 1 }).toArray();
      return new Map(found.map((row) => [row._id, inboxAt(row, now)]));
    },

    /** The revisions of the inboxes of at most 500 people. */
    revisions: async (userIds: readonly string[]): Promise<Map<string, number>> => {
      const options = { projection: { revision: 1 }, batchSize: userIds.length + 1 } as const;
      const found = await rows.find({ _id: { $in: [...userIds] } }, options).toArray();
      return new Map(found.map(({ _id, revision }) => [_id, revision]));
    },
  };
};

type ChangeOne = ReturnType<typeof changing>["changeOne"];

const arriving = (rows: Collection<InboxRow>, bodies: ReturnType<typeof inboxItems>, changeOne: ChangeOne) => ({
  /**
   * Puts an item of a message into the inboxes of at most 500 people, each once, however often this is run: what it says
   * is there before its state is.
   */
  add: async ({ tenantId, appId }: OfApp, arrivals: Arrivals): Promise<void> => {
    await bodies.keep(arrivals.items);
    const [first] = arrivals.items;
    if (first === undefined) return;
    const entry = entryOf(first);
    let left = await push(rows, arrivals, entry);
    for (let round = 0; left.length > 0; round++) {
      if (round === mostRounds) throw new Error("inboxes: others keep changing those of the same people");
      const made = left.map((_id) => inboxWith(_id, { tenant_id: tenantId, app_id: appId }, entry, arrivals.now));
      const known = await insertMissing(rows, made);
      const [full, others] = await apart(rows, [...known], arrivals);
      for (const userId of full)
        await changeOne(userId, (entries) => withEntry(entries, entryFor(entry, userId), arrivals), arrivals.now);
      left = others.length === 0 ? [] : await push(rows, arrivals, entry, others);
    }
  },
});

/** What a setting may allow at most. */
export const mostEntries = 1_000;
const mostRounds = 10;

const joined = (entries: readonly InboxEntry[], moved: readonly InboxEntry[], of: { most: number; now: Date }) =>
  statesOf(
    moved
      .reduce<readonly InboxEntry[]>((all, one) => withEntry(all, one, of).entries, entries)
      .toSorted((a, b) => a.at.getTime() - b.at.getTime()),
    of.now,
  );

const entryOf = ({ message_id, created_at: at, expires_at }: InboxItemRow): StoredEntry => ({
  message_id,
  at,
  expires_at,
});

const entryFor = (entry: StoredEntry, userId: string): InboxEntry => ({
  ...entry,
  id: entry.id ?? inboxItemId(entry.message_id, userId),
});

const entriesOf = ({ _id, entries, revision }: InboxRow): InboxEntry[] =>
  numbered(
    entries.map((one) => entryFor(one, _id)),
    revision,
  );

const inboxAt = (row: InboxRow, now: Date): Inbox => {
  const { revision, dropped = [] } = row;
  return { ...(row.next_expiry > now ? statesIn(row) : statesOf(entriesOf(row), now)), revision, dropped };
};

const statesIn = (row: InboxRow): InboxStates => {
  const { unread, unseen, next_expiry } = row;
  return { entries: entriesOf(row), unread, unseen, next_expiry };
};

type OwnerOf = Pick<InboxRow, "tenant_id" | "app_id">;

const inboxWith = (_id: string, of: OwnerOf, entry: StoredEntry, now: Date): InboxRow => ({
  ...emptyInbox(_id, of, now),
  revision: 1,
  entries: [entry],
  unread: 1,
  unseen: 1,
  next_expiry: entry.expires_at,
});

const emptyInbox = (_id: string, of: OwnerOf, now: Date): InboxRow => ({
  ...of,
  ...statesOf([], now),
  _id,
  revision: 0,
  entries: [],
  updated_at: now,
});

/** One more item for everybody who has an inbox with room and has not got it; gives those of whom that is not known. */
const push = async (
  rows: Collection<InboxRow>,
  { messageId, items, most, now }: Arrivals,
  entry: StoredEntry,
  userIds: readonly string[] = items.map(({ user_id: id }) => id),
): Promise<string[]> => {
  const room = {
    _id: { $in: [...userIds] },
    "entries.message_id": { $ne: messageId },
    [`entries.${most - 1}`]: { $exists: false },
  };
  const change = {
    $push: { entries: entry },
    $inc: { unread: 1, unseen: 1, revision: 1 },
    $min: { next_expiry: entry.expires_at },
    $set: { updated_at: now },
  };
  const { modifiedCount } = await retryConflicts(() => rows.updateMany(room, change));
  return modifiedCount === userIds.length ? [] : withoutItem(rows, messageId, userIds);
};

/** Of these people those whose inbox does not have the item of a message, or who have none. */
const withoutItem = async (
  rows: Collection<InboxRow>,
  messageId: string,
  userIds: readonly string[],
): Promise<string[]> => {
  const has = new Set(await findIds(rows, { _id: { $in: [...userIds] }, "entries.message_id": messageId }));
  return userIds.filter((id) => !has.has(id));
};

/** Those of these inboxes, which are there, that are full, and the others that lack the item. */
const apart = async (
  rows: Collection<InboxRow>,
  userIds: readonly string[],
  { messageId, most }: Arrivals,
): Promise<[full: string[], others: string[]]> => {
  if (userIds.length === 0) return [[], []];
  const left = await withoutItem(rows, messageId, userIds);
  const full = new Set(
    left.length === 0 ? [] : await findIds(rows, { _id: { $in: left }, [`entries.${most - 1}`]: { $exists: true } }),
  );
  return [[...full], left.filter((id) => !full.has(id))];
};

/** Reads an inbox, decides, and writes it where nobody has changed it meanwhile. */
const changing = (rows: Collection<InboxRow>, bodies: ReturnType<typeof inboxItems>) => {
  const findOne = (userId: string): Promise<InboxRow | null> => rows.findOne({ _id: userId });
  const changeOne = async (
    userId: string,
    decide: (entries: readonly InboxEntry[]) => InboxStates,
    now: Date,
  ): Promise<Inbox | null> => {
    for (let round = 0; round < mostRounds; round++) {
      const row = await findOne(userId);
      if (row === null) return null;
      const { revision, dropped = [] } = row;
      const before = { ...statesIn(row), revision, dropped };
      const next = revised(before, decide(before.entries), now);
      const set = { ...next, updated_at: now };
      const { matchedCount } = await rows.updateOne({ _id: userId, revision }, { $set: set });
      if (matchedCount === 0) continue;
      const kept = new Set(
        next.entries.flatMap(({ id, deleted_at: deletedAt }) => (deletedAt === undefined ? [id] : [])),
      );
      await bodies.remove(before.entries.flatMap(({ id }) => (kept.has(id) ? [] : [id])));
      return next;
    }
    throw new Error("inboxes: others keep changing one person's");
  };
  return { findOne, changeOne };
};
