import type { Db, Document } from "mongodb";
import type { InboxPart } from "../../domain/inbox/pages.ts";
import { statesOf } from "../../domain/inbox/states.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type InboxRow, inboxCollection } from "./inboxes.ts";

/** States of an inbox: the `count` up to an index and with it, or the newest where that is null. */
export type PartAsked = { upTo: number | null; count: number };

/** Some states of an inbox, and what is counted of all of it. */
export type InboxPartRead = InboxPart & Pick<InboxRow, "revision" | "unread" | "unseen">;

/** `from`: only what came then or later is counted; null: everything. */
type Counting = { now: Date; from: Date | null };

/**
 * Reads some states of a person's inbox, and leaves the others in the store. All of them are read where `part` is null, where an
 * item has expired since they were counted, or where not all are counted. Null for who never had an item.
 */
export const inboxParts = (db: Db) => {
  const rows = collectionOf<InboxRow>(db, inboxCollection);
  const readSome = async ({ tenantId, appId }: OfApp, userId: string, part: PartAsked | null) => {
    const options = part === null ? {} : { projection: projectionOf(part) };
    const row = await rows.findOne<InboxRow & { total?: number }>({ _id: userId }, options);
    if (row?.tenant_id !== tenantId || row.app_id !== appId) return null;
    const { entries, total = entries.length, revision, unread, unseen, next_expiry } = row;
    const from = part === null ? 0 : beginOf(part, total);
    return { entries, from, total, revision, unread, unseen, next_expiry };
  };
  return async (
    of: OfApp,
    userId: string,
    part: PartAsked | null,
    counting: Counting,
  ): Promise<InboxPartRead | null> => {
    const some = await readSome(of, userId, counting.from === null ? part : null);
    if (some === null || (some.next_expiry > counting.now && counting.from === null)) return some;
    const all = some.entries.length < some.total ? await readSome(of, userId, null) : some;
    return all && counted(all, counting);
  };
};

const counted = (read: InboxPartRead, { now, from }: Counting): InboxPartRead => {
  const { unread, unseen } = statesOf(from === null ? read.entries : read.entries.filter(({ at }) => at >= from), now);
  return { ...read, unread, unseen };
};

/** Where a part begins in an inbox of so many states. */
const beginOf = ({ upTo, count }: PartAsked, total: number): number => Math.max(0, (upTo ?? total - 1) + 1 - count);

const projectionOf = (part: PartAsked): Document => {
  const begin = part.upTo === null ? -part.count : beginOf(part, 0);
  const slice = part.upTo === null ? begin : [begin, part.upTo + 1 - begin];
  return { ...counters, total: { $size: "$entries" }, entries: { $slice: slice } };
};

const counters = { tenant_id: 1, app_id: 1, revision: 1, unread: 1, unseen: 1, next_expiry: 1 };
