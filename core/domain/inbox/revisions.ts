import { type InboxEntry, type InboxStates, isShown, statesOf } from "./states.ts";

/** An item that made room for others, and the revision with which it went. */
export type DroppedItem = { id: string; revision: number };

/** An inbox whose items have the revision with which each changed last, and the last ones that made room, the oldest first. */
export type RevisedInbox = InboxStates & { revision: number; dropped: readonly DroppedItem[] };

/** What changed since a revision: items as they are now, and the ids of those that are there no more. */
export type InboxChanges = { items: InboxEntry[]; removed: string[] };

/** Items that are known to have made room; who has not asked for longer reads the inbox anew. */
export const mostDropped = 20;

/** Changes that are told one by one; who missed more reads the inbox anew. */
export const mostChanges = 100;

/**
 * Gives the latest arrivals their revisions. They are stored without, by one command for many people, and each came with
 * a revision of its own, the last one with the inbox's.
 */
export const numbered = (entries: readonly InboxEntry[], revision: number): InboxEntry[] => {
  const known = entries.findLastIndex((one) => one.revision !== undefined) + 1;
  return entries.map((one, i) =>
    i < known ? one : { ...one, revision: Math.max(0, revision - (entries.length - 1 - i)) },
  );
};

/** The inbox after a change to `next`, one revision on, which each item has that is new or another than before. */
export const revised = (before: RevisedInbox, next: InboxStates, now: Date): RevisedInbox => {
  const revision = before.revision + 1;
  const former = new Map(before.entries.map((one) => [one.id, one]));
  const kept = new Set(next.entries.map(({ id }) => id));
  const dropped = before.entries.filter((one) => !kept.has(one.id) && isShown(one, now));
  return {
    ...next,
    entries: next.entries.map((one) => (isSame(former.get(one.id), one) ? one : { ...one, revision })),
    revision,
    dropped: [...before.dropped, ...dropped.map(({ id }) => ({ id, revision }))].slice(-mostDropped),
  };
};

/** What changed since a revision; null when that is not known any more, is too much, or the revision is none of the inbox. */
export const changesSince = (
  { entries, revision, dropped }: RevisedInbox,
  since: number,
  now: Date,
): InboxChanges | null => {
  const [oldest] = dropped;
  const isForgotten = oldest !== undefined && dropped.length === mostDropped && since < oldest.revision;
  if (since > revision || isForgotten) return null;
  const changed = entries.filter((one) => (one.revision ?? 0) > since);
  const items = changed.filter((one) => isShown(one, now));
  const gone = [
    ...changed.filter(({ deleted_at: at }) => at !== undefined),
    ...dropped.filter((one) => one.revision > since),
  ];
  return items.length + gone.length > mostChanges ? null : { items, removed: gone.map(({ id }) => id) };
};

/** The part of an inbox that came at an instant or later, with what is counted of that. */
export const inboxFrom = <Inbox extends RevisedInbox>(inbox: Inbox, from: Date, now: Date): Inbox => ({
  ...inbox,
  ...statesOf(
    inbox.entries.filter(({ at }) => at >= from),
    now,
  ),
});

/** Of what changed in an inbox only what is of its part that came at an instant or later. */
export const changesFrom = (
  { entries }: Pick<RevisedInbox, "entries">,
  { items, removed }: InboxChanges,
  from: Date,
): InboxChanges => {
  const before = new Set(entries.flatMap(({ id, at }) => (at < from ? [id] : [])));
  return { items: items.filter(({ at }) => at >= from), removed: removed.filter((id) => !before.has(id)) };
};

const instants = ["seen_at", "read_at", "archived_at", "snoozed_until", "deleted_at"] as const;

const isSame = (former: InboxEntry | undefined, entry: InboxEntry): boolean =>
  former !== undefined && instants.every((name) => former[name]?.getTime() === entry[name]?.getTime());

/** Of somebody who never had an item. */
export const emptyInbox = (): RevisedInbox => ({ ...statesOf([], farPast), revision: 0, dropped: [] });

const farPast = new Date(0);
