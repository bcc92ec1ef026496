import type { Db, Document } from "mongodb";
import { conversationStatuses } from "../../schema/conversations/conversation.ts";
import { collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";
import { type SortPosition, sortedPage } from "../mongo/page-range.ts";
import type { Within } from "../mongo/read-within.ts";
import { type ConversationRow, conversationCollection } from "./conversation-row.ts";

/** What a list of conversations may be narrowed by. */
export type ConversationFilter = {
  statuses?: readonly ConversationRow["status"][];
  assigneeId?: string;
  userId?: string;
  contactAddress?: string;
  channel?: ConversationRow["channel"];
  tag?: string;
  priority?: ConversationRow["priority"];
  handledBy?: ConversationRow["handled_by"];
  isUnread?: boolean;
  /** Some conversations by their ids, of which the others are left out. */
  ids?: readonly string[];
};

/** By what a list is sorted. */
export type ConversationSort = "updated_at" | "created_at" | "waiting_since";

export type ConversationPlaceInList = {
  sort: ConversationSort;
  after: SortPosition | null;
  isDescending: boolean;
  limit: number;
};

/**
 * How many documents one query looks at where no index finds what is wanted, and how many such queries read a page; of how many
 * conversations of one person or address each is read, to be sorted here.
 */
const bounds = { size: 500, most: 10, ofOne: 1_000 };

/**
 * Lists the conversations of an app. Each of what an index finds in order is read by itself, such as those of each status, and
 * put together; what no index finds is looked for in so many documents, so that a page may be shorter, or empty.
 */
export const conversationList =
  (db: Db, { size, most, ofOne: mostOfOne } = bounds) =>
  async (
    of: OfApp,
    filter: ConversationFilter,
    place: ConversationPlaceInList,
  ): Promise<Within<ConversationRow, SortPosition>> => {
    const rows = collectionOf<ConversationRow>(db, conversationCollection);
    const read = ({ by, hint }: Stream, after: SortPosition | null, limit: number): Promise<ConversationRow[]> => {
      const { filter: range, sort } = sortedPage(place.sort, { ...place, after });
      const bounded = place.sort === "updated_at" ? range : { $and: [anyInstant(place.sort), range] };
      return rows
        .find({ app_id: of.appId, ...by, ...bounded, tenant_id: of.tenantId }, { hint })
        .project<ConversationRow>({ appended: 0 })
        .sort(sort)
        .limit(limit)
        .toArray();
    };
    const readStream = async (stream: Stream): Promise<Part> => {
      const fits = fitting(filter, place.sort);
      const found: ConversationRow[] = [];
      let { after } = place;
      for (let n = 0; n < most; n++) {
        const wanted = stream.isExact ? place.limit : size;
        const page = await read(stream, after, wanted);
        found.push(...page.filter(fits));
        const last = page.at(-1);
        if (last === undefined || page.length < wanted || found.length >= place.limit)
          return { rows: found.slice(0, place.limit), readTo: null };
        after = positionIn(place.sort)(last);
      }
      return { rows: found, readTo: after };
    };
    if (filter.ids !== undefined) return pageOf([sortedHere(await named(rows, of, filter.ids), filter, place)], place);
    const ofOne = place.sort === "updated_at" ? null : whoseOf(filter);
    const theirs = ofOne === null ? null : await allOfOne(rows, of, { ...ofOne, most: mostOfOne });
    if (theirs !== null) return pageOf([sortedHere(theirs, filter, place)], place);
    return pageOf(await Promise.all(streamsOf(filter, place.sort).map(readStream)), place);
  };

/** What has the member at all, as partial indexes say it; not who is gone. */
const anyInstant = (member: string): Document => ({ [member]: { $gt: longAgo, $lt: farAhead } });

/** Where a conversation stands in a list. */
export const positionIn =
  (sort: ConversationSort) =>
  (row: ConversationRow): SortPosition => ({ value: row[sort] ?? longAgo, id: row._id });

/** What an index has in order; `isExact`: the filter asks for nothing more. */
type Stream = { by: Document; hint: string; isExact: boolean };

/** What was read of one; `readTo`: as far as it was looked at, where there may be more. */
type Part = { rows: ConversationRow[]; readTo: SortPosition | null };

const streamsOf = (filter: ConversationFilter, sort: ConversationSort): Stream[] => {
  const { statuses = conversationStatuses, assigneeId, tag, ...more } = filter;
  const isNarrowed = Object.values(more).some((value) => value !== undefined);
  const asksStatus = filter.statuses !== undefined;
  if (sort === "created_at") return [{ by: {}, hint: "created", isExact: Object.keys(filter).length === 0 }];
  if (sort === "waiting_since") return [{ by: {}, hint: "waiting", isExact: Object.keys(filter).length === 0 }];
  const ofOne = whoseOf(filter);
  if (ofOne !== null) return [{ ...ofOne, isExact: false }];
  if (tag !== undefined)
    return [{ by: { tag_keys: tag }, hint: "tag", isExact: !isNarrowed && !asksStatus && assigneeId === undefined }];
  return statuses.map((status) =>
    assigneeId === undefined
      ? { by: { status }, hint: "status", isExact: !isNarrowed }
      : { by: { assignee_id: assigneeId, status }, hint: "assignee_status", isExact: !isNarrowed },
  );
};

/** Whether a conversation is one of those that are wanted. */
const fitting =
  (filter: ConversationFilter, sort: ConversationSort) =>
  (row: ConversationRow): boolean =>
    [
      filter.statuses === undefined || filter.statuses.includes(row.status),
      filter.assigneeId === undefined || filter.assigneeId === row.assignee_id,
      filter.userId === undefined || filter.userId === row.user_id,
      filter.contactAddress === undefined || filter.contactAddress === row.contact_address,
      filter.channel === undefined || filter.channel === row.channel,
      filter.tag === undefined || row.tags.includes(filter.tag),
      filter.priority === undefined || filter.priority === row.priority,
      filter.handledBy === undefined || filter.handledBy === row.handled_by,
      filter.isUnread === undefined || filter.isUnread === row.unread_count > 0,
      sort !== "waiting_since" || row.waiting_since !== null,
    ].every(Boolean);

type Rows = ReturnType<typeof collectionOf<ConversationRow>>;

/** Conversations that are named: some thousand at most. */
const named = (rows: Rows, { appId, tenantId }: OfApp, ids: readonly string[]): Promise<ConversationRow[]> =>
  rows
    .find({ _id: { $in: [...ids] }, app_id: appId, tenant_id: tenantId, gone: { $ne: true } })
    .project<ConversationRow>({ appended: 0 })
    .toArray();

/** Whose conversations a list is of, as an index finds them; null when it is of several people. */
const whoseOf = ({ userId, contactAddress }: ConversationFilter): Pick<Stream, "by" | "hint"> | null => {
  if (userId !== undefined) return { by: { user_id: userId }, hint: "person" };
  return contactAddress === undefined ? null : { by: { contact_address: contactAddress }, hint: "contact" };
};

/** All conversations of one person or address; null when there are more than `most`: then they are looked for among all. */
const allOfOne = async (
  rows: Rows,
  { appId, tenantId }: OfApp,
  { by, hint, most }: Pick<Stream, "by" | "hint"> & { most: number },
): Promise<ConversationRow[] | null> => {
  const found = await rows
    .find({ app_id: appId, ...by, updated_at: { $gt: longAgo, $lt: farAhead }, tenant_id: tenantId }, { hint })
    .project<ConversationRow>({ appended: 0 })
    .sort({ updated_at: -1, _id: -1 })
    .limit(most + 1)
    .toArray();
  return found.length > most ? null : found;
};

/** Those of some conversations that are wanted. */
const sortedHere = (
  found: readonly ConversationRow[],
  filter: ConversationFilter,
  { sort, after, isDescending }: ConversationPlaceInList,
): Part => {
  const isBehind = (row: ConversationRow): boolean =>
    after === null || compared(positionIn(sort)(row), after) * (isDescending ? -1 : 1) > 0;
  return { rows: found.filter(fitting(filter, sort)).filter(isBehind), readTo: null };
};

/** What was read of each, in one order, as far as all were read. */
const pageOf = (parts: readonly Part[], { sort, isDescending, limit }: ConversationPlaceInList) => {
  const way = isDescending ? -1 : 1;
  const position = positionIn(sort);
  const ends = parts.flatMap(({ readTo }) => readTo ?? []).toSorted((a, b) => way * compared(a, b));
  const [end] = ends;
  const rows = parts
    .flatMap((part) => part.rows)
    .filter((row) => end === undefined || way * compared(position(row), end) <= 0)
    .toSorted((a, b) => way * compared(position(a), position(b)))
    .slice(0, limit);
  return { rows, isWhole: end === undefined, ...(end !== undefined && { readTo: end }) };
};

const compared = (a: SortPosition, b: SortPosition): number => {
  const [x, y] = [Number(a.value), Number(b.value)]; // instants
  if (x !== y) return x < y ? -1 : 1;
  return a.id === b.id ? 0 : a.id < b.id ? -1 : 1;
};
