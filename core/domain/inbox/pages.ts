import { type InboxEntry, isShown } from "./states.ts";

/** The state of an item, which has the id of its message and person unless it came with a merged user. */
export type EntryOfPage = Omit<InboxEntry, "id"> & { id?: string };

/** Where an item stands in an inbox: `index` among all states when it was read, where that is known. */
export type InboxPlace = { at: Date; id: string; index?: number };

/** Some states of an inbox, one behind the other, the oldest first: those from `from` on, of `total`. */
export type InboxPart = { entries: readonly EntryOfPage[]; from: number; total: number };

/** What is asked of a page: `limit` items behind a place, the newest first, of those that `among` says. */
export type PageAsked = {
  now: Date;
  after: InboxPlace | null;
  limit: number;
  among: (entry: EntryOfPage) => boolean;
  idOf: (entry: EntryOfPage) => string;
};

export type PlacedEntry = { entry: EntryOfPage; index: number };

/**
 * The states of a page, in the reverse of the order in which the items came; null where the part has too few of them to
 * know it. Items come at the end and go anywhere, so the one that a page begins behind is at its index or before that; who
 * finds it gone begins behind what is no newer.
 */
export const pageIn = ({ entries, from, total }: InboxPart, asked: PageAsked): PlacedEntry[] | null => {
  const { now, after, limit, among } = asked;
  const isWhole = from === 0 && entries.length === total;
  const end = endIn(entries, asked);
  if (end === null && !isWhole) return null;
  const page: PlacedEntry[] = [];
  for (let i = (end ?? firstNewer(entries, after)) - 1; i >= 0 && page.length < limit; i--) {
    const entry = entries[i];
    if (entry !== undefined && isShown(entry, now) && among(entry)) page.push({ entry, index: from + i });
  }
  return page.length === limit || from === 0 ? page : null;
};

/** Behind the last state that a page may have; null where what it begins behind is not among these. */
const endIn = (entries: readonly EntryOfPage[], { after, idOf }: PageAsked): number | null => {
  if (after === null) return entries.length;
  const at = after.at.getTime();
  const found = entries.findLastIndex((one) => one.at.getTime() === at && idOf(one) === after.id);
  return found === -1 ? null : found;
};

const firstNewer = (entries: readonly EntryOfPage[], after: InboxPlace | null): number =>
  entries.findLastIndex(({ at }) => after === null || at <= after.at) + 1;

/** Which states to read first for a page: the newest ones (`upTo` is null), or the `count` up to an index and with it. */
export const partFor = ({
  after,
  limit,
}: Pick<PageAsked, "after" | "limit">): { upTo: number | null; count: number } | null => {
  if (after === null) return { upTo: null, count: limit + spare };
  return after.index === undefined ? null : { upTo: after.index, count: limit + spare };
};

const spare = 40; // states that a page leaves out, or that went since the page before: more cost a second read
