import type { Db, Filter } from "mongodb";
import { type CollectionSpec, collectionOf, farAhead, longAgo, type OfApp, type Person } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { inPages, type OnPage } from "../mongo/pages.ts";
import { removePages } from "../work/removal-pages.ts";

/**
 * A custom event as it is kept. Written once, by the batch that brought it first. Members without a value are left out.
 */
export type EventRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  name: string;
  occurred_at: Date;
  received_at: Date;
  /** When it was stored, before the first attempt to; absent in those that an earlier release stored. */
  stored_at?: Date;
  /** Whom it is about, as users are counted and erased: `external_id:…`, else `usr_…`, else `sub_…`. */
  person?: string;
  user_id?: string;
  external_id?: string;
  subscription_id?: string;
  /** JSON: names of properties follow no rules of the store's. */
  properties?: string;
  value?: number;
  source: string;
  /** The message of the stream that counts it. */
  batch: string;
};

export const eventCollection: CollectionSpec = {
  name: "events",
  indexes: [
    { key: { app_id: 1, name: 1, occurred_at: 1, _id: 1 }, name: "list" },
    { key: { app_id: 1, person: 1, name: 1, occurred_at: 1 }, name: "history" },
    { key: { app_id: 1, stored_at: 1, _id: 1 }, name: "changed" }, // for warehouse exports: docs/decisions/0126
  ],
  former: ["person"], // without the name
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { erase: (db, person, onPage) => erasePerson(db, person, onPage) },
  retention: { kept: "as long as its definition or the plan says: dispatcher/events/retention.ts" },
};

/** Where a page of events goes on. */
export type EventPlace = { occurredAt: Date; id: string };

export type EventPage = OfApp & {
  name: string;
  /** Both included. */
  from?: Date | undefined;
  to?: Date | undefined;
  after: EventPlace | null;
  limit: number;
};

export type Events = ReturnType<typeof events>;

export const events = (db: Db) => {
  const rows = collectionOf<EventRow>(db, eventCollection);
  return {
    /** Stores events; gives the ids of those that were there. */
    insert: (made: readonly EventRow[]): Promise<Set<string>> => {
      const inOrder = made.toSorted((a, b) => (a._id < b._id ? -1 : 1)); // so that writers who meet wait for each other, and not in a circle
      return retryConflicts(() => insertMissing(rows, inOrder));
    },

    /** Which of these are stored. */
    known: async (ids: readonly string[]): Promise<Set<string>> => {
      const found = await inPages(ids, pageIds, (some) =>
        rows.find({ _id: { $in: some } }, { projection: { _id: 1 }, batchSize: pageIds + 1 }).toArray(),
      );
      return new Set(found.map(({ _id }) => _id));
    },

    /** Which batches these events belong to. */
    batchesOf: async (ids: readonly string[]): Promise<Map<string, string>> => {
      const found = await inPages(ids, pageIds, (some) =>
        rows.find({ _id: { $in: some } }, { projection: { batch: 1 }, batchSize: pageIds + 1 }).toArray(),
      );
      return new Map(found.map(({ _id, batch }) => [_id, batch]));
    },

    /** One page of the events of a name, in the order of `occurred_at`, then id. */
    page: ({ tenantId, appId, name, from = longAgo, to = farAhead, after, limit }: EventPage, signal?: AbortSignal) => {
      const least = after === null || after.occurredAt < from ? from : after.occurredAt;
      const filter: Filter<EventRow> = {
        app_id: appId,
        name,
        tenant_id: tenantId,
        occurred_at: { $gte: least, $lte: to },
        ...(after !== null && {
          $or: [{ occurred_at: { $gt: after.occurredAt } }, { occurred_at: after.occurredAt, _id: { $gt: after.id } }],
        }),
      };
      const found = rows.find(filter, { hint: "list", batchSize: limit + 1, ...(signal && { signal }) });
      return found.sort({ occurred_at: 1, _id: 1 }).limit(limit).toArray();
    },

    /** The first name of an app's events behind another, in the order of their bytes; null when there is none. */
    nextName: async ({ tenantId, appId }: OfApp, after: string): Promise<string | null> => {
      const filter = { app_id: appId, name: { $gt: after, $lt: behindAllNames }, tenant_id: tenantId };
      const found = rows.find(filter, { hint: "list", projection: { name: 1 } });
      const [first] = await found.sort({ name: 1 }).limit(1).toArray();
      return first?.name ?? null;
    },

    /** Removes events of a name from before an instant, page by page. @throws what `onPage` throws */
    removeOlder: async (appId: string, name: string, before: Date, onPage?: OnPage): Promise<void> => {
      const filter = { app_id: appId, name, occurred_at: { $gt: longAgo, $lt: before } };
      await removePages(rows, { filter, hint: "list", pages: Number.POSITIVE_INFINITY, onPage });
    },
  };
};

const pageIds = 500; // in one $in
const behindAllNames = "\u{10ffff}";

/** What was said under an id of the app's after the deletion is about somebody else; an id of ours never is. May run twice. */
const erasePerson = async (db: Db, { appId, userId, keys, at }: Person, onPage?: OnPage): Promise<number> => {
  const rows = collectionOf<EventRow>(db, eventCollection);
  for (const person of new Set([userId, ...keys])) {
    const isOurs = person.startsWith("usr_") || person.startsWith("sub_");
    const filter = { app_id: appId, person, ...(!isOurs && { received_at: { $lte: at } }) };
    await removePages(rows, { filter, hint: "history", pages: Number.POSITIVE_INFINITY, onPage });
  }
  return 0;
};
