import { LRUCache } from "lru-cache";
import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { defined } from "../../domain/defined.ts";
import { raisedBy, type Suppressed } from "../../domain/suppressions/strength.ts";
import { AppError } from "../../errors.ts";
import { gather } from "../../runtime/batching/gather.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp, type Person } from "../mongo/collection.ts";
import { duplicatesOf, isWriteConflict } from "../mongo/duplicate.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";

/** An address or a user that gets no messages, or none of some categories. */
export type SuppressionRow = Suppressed & {
  _id: string;
  tenant_id: string;
  app_id: string;
  /** Null: every channel. */
  channel: Channel | null;
  /** What it is about, in a form that outlives the erasure of the person: see keys.ts. */
  subject: string;
  address: string | null;
  external_id: string | null;
  user_id: string | null;
  /** Keys of the person whose it is, by which they are erased: see core/domain/people/keys.ts. */
  people: string[];
  /** Grows with every change. */
  revision: number;
  created_at: Date;
  updated_at: Date;
};

export const suppressionCollection: CollectionSpec = {
  name: "suppressions",
  indexes: [
    { key: { app_id: 1, subject: 1, channel: 1 }, name: "subject", unique: true },
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, people: 1 }, name: "people" },
    { key: { app_id: 1, channel: 1 }, name: "channel" },
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { erase: (db, person) => erasePerson(collectionOf(db, suppressionCollection), person) },
  retention: { index: "retention" },
};

export type Suppressions = ReturnType<typeof suppressions>;

/** What a list may be narrowed by; entries of any of several values. */
export type SuppressionFilter = {
  subject?: string;
  channels?: readonly Channel[];
  reasons?: readonly Suppressed["reason"][];
  sources?: readonly Suppressed["source"][];
  category?: string;
  from?: Date;
  to?: Date;
};

/** Entries that have ended are as good as gone: the store removes them within a minute. */
export const suppressions = (db: Db) => {
  const rows = collectionOf<SuppressionRow>(db, suppressionCollection);
  const writers = new LRUCache<string, Writer>({ max: mostWriters, memoMethod: () => writerOf(rows) });
  return {
    find: ({ tenantId, appId }: OfApp, id: string, now: Date): Promise<SuppressionRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId, ...lasting(now) }),

    /** One page of an app's entries, in the order in which they were added. */
    page: (
      { tenantId, appId }: OfApp,
      { subject, channels, reasons, sources, category, from, to }: SuppressionFilter,
      page: PagePlace & { limit: number },
      now: Date,
    ): Promise<SuppressionRow[]> =>
      rows
        .find(
          {
            app_id: appId,
            tenant_id: tenantId,
            _id: pageRange("suppression", { from, to }, page),
            ...lasting(now),
            ...defined({ subject, channel: anyOf(channels), reason: anyOf(reasons), source: anyOf(sources) }),
            ...defined({ categories: category }),
          },
          { hint: subject === undefined ? "list" : "subject" },
        )
        .sort({ _id: page.isDescending ? -1 : 1 })
        .limit(page.limit)
        .toArray(),

    /**
     * Stores entries of one app; those that are there already are raised, never lowered. Gives each as it is stored, in
     * their order: a new one has its own id.
     * @throws AppError HS_CONFLICT when others change the same entries all the time
     */
    put: async (made: readonly SuppressionRow[], now: Date): Promise<SuppressionRow[]> =>
      made[0] === undefined ? [] : writers.memo(made[0].app_id)({ made, now }),

    ...held(rows),

    /** False when it is no longer as it was read. */
    remove: async ({ _id, tenant_id, revision }: SuppressionRow): Promise<boolean> =>
      (await rows.deleteOne({ _id, tenant_id, revision })).deletedCount === 1,
  };
};

/** What receipts and sending do with the list. */
const held = (rows: Collection<SuppressionRow>) => ({
  /** Whether the app has an entry that a message on a channel may meet. */
  isAny: async (appId: string, channel: Channel): Promise<boolean> => {
    const one = { projection: { _id: 1 }, hint: "channel" };
    return (await rows.findOne({ app_id: appId, channel: { $in: [channel, null] } }, one)) !== null;
  },

  /** The entries about any of these subjects that a message on a channel meets. */
  about: ({ tenantId, appId }: OfApp, channel: Channel, subjects: readonly string[], now: Date): Promise<Met[]> =>
    inPages(subjects, pageSubjects, (page) =>
      rows
        .find(
          {
            app_id: appId,
            subject: { $in: page },
            channel: { $in: [channel, null] },
            tenant_id: tenantId,
            ...lasting(now),
          },
          { projection: met, hint: "subject" },
        )
        .toArray(),
    ),

  /** One page of the entries that a message on a channel may meet, behind an id. */
  listed: ({ tenantId, appId }: OfApp, channel: Channel, after: string, now: Date): Promise<Listed[]> =>
    rows
      .find(
        { app_id: appId, _id: { $gt: after }, channel: { $in: [channel, null] }, tenant_id: tenantId, ...lasting(now) },
        { projection: listed, hint: "list" },
      )
      .sort({ _id: 1 })
      .limit(pageListed)
      .toArray(),

  /** Removes an entry of a reason that was there before an instant. */
  lift: async (
    { tenantId, appId }: OfApp,
    of: Pick<SuppressionRow, "subject" | "channel" | "reason">,
    before: Date,
  ) => {
    await rows.deleteOne({ app_id: appId, ...of, tenant_id: tenantId, created_at: { $lte: before } });
  },
});

/** What of an entry decides whether a message is held back by it. */
export type Met = Pick<SuppressionRow, "subject" | "reason" | "categories">;
const met = { _id: 0, subject: 1, reason: 1, categories: 1 } as const;

/** The same, with whom it names. */
export type Listed = Pick<SuppressionRow, "_id" | "reason" | "categories" | "address" | "user_id">;
const listed = { reason: 1, categories: 1, address: 1, user_id: 1 } as const;
const pageListed = 1_000;

/** Whom an entry is about: `key` is as of core/domain/people/keys.ts. */
export type Subject = {
  channel: Channel | null;
  subject: string;
  key: string;
  address: string | null;
  externalId: string | null;
  userId: string | null;
};

/** A new entry. */
export const suppressionRow = (
  { tenantId, appId }: OfApp,
  { id, about, said, at }: { id: string; about: Subject; said: Suppressed; at: Date },
): SuppressionRow => ({
  _id: id,
  tenant_id: tenantId,
  app_id: appId,
  channel: about.channel,
  subject: about.subject,
  address: about.address,
  external_id: about.externalId,
  user_id: about.userId,
  people: about.userId === null ? [about.key] : [about.key, about.userId],
  ...said,
  revision: 0,
  created_at: at,
  updated_at: at,
});

const anyOf = <T>(values: readonly T[] | undefined) => values && { $in: [...values] };

const lasting = (now: Date) => ({ expires_at: { $not: { $lte: now } } });

const mostWriters = 1_000; // one that is forgotten finishes what it has
const atOnce = { most: 10, inFlight: 1 }; // each puts 1,000 entries at most

type Wanted = { made: readonly SuppressionRow[]; now: Date };
type Writer = (wanted: Wanted) => Promise<SuppressionRow[]>;

/** Puts the entries of one app. Those that come while others are written are written together, so that none disturbs another. */
const writerOf = (rows: Collection<SuppressionRow>): Writer =>
  gather({
    ...atOnce,
    write: async (all: readonly Wanted[]) => {
      const now = all.reduce((latest, one) => (one.now > latest ? one.now : latest), new Date(0));
      const shown = await put(
        rows,
        all.flatMap(({ made }) => made),
        now,
      );
      return all.map(({ made }) => made.map((row) => shown(row)));
    },
  });

const attempts = 10; // one stores, one sees that it is stored; the others are lost to other processes, a second for each

/** Gives what shows each entry as it is stored. */
const put = async (
  rows: Collection<SuppressionRow>,
  made: readonly SuppressionRow[],
  now: Date,
): Promise<(row: SuppressionRow) => SuppressionRow> => {
  const wanted = merged(made);
  for (let attempt = 0; attempt < attempts; attempt++) {
    const stored = await readStored(rows, wanted);
    const missing = wanted.flatMap((row) => writesOf(stored.get(placeOf(row)), row, now));
    if (missing.length === 0) return (row) => stored.get(placeOf(row)) ?? row;
    await rows.bulkWrite(missing, { ordered: false }).catch(unlessLost); // another was quicker: read again
  }
  throw new AppError("HS_CONFLICT", "the same entries are being changed by others", { status: "busy" });
};

/** Throws what does not say that another was quicker. */
const unlessLost = (error: unknown): unknown => isWriteConflict(error) || duplicatesOf(error, []);

/** What is unique in an app. */
const placeOf = ({ subject, channel }: SuppressionRow): string => `${subject} ${channel}`;

/** One for each place, in one order: so that writers of the same entries wait for each other and never in a circle. */
const merged = (made: readonly SuppressionRow[]): SuppressionRow[] => {
  const places = new Map<string, SuppressionRow>();
  for (const row of made) {
    const first = places.get(placeOf(row));
    places.set(placeOf(row), first === undefined ? row : { ...first, ...raisedBy(first, row) });
  }
  return [...places.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
};

const pageSubjects = 500; // in one $in: keeps each query's plan an index probe

const readStored = async (
  rows: Collection<SuppressionRow>,
  wanted: readonly SuppressionRow[],
): Promise<Map<string, SuppressionRow>> => {
  const [{ tenant_id, app_id } = { tenant_id: "", app_id: "" }] = wanted;
  const subjects = [...new Set(wanted.map(({ subject }) => subject))];
  const found = await inPages(subjects, pageSubjects, (page) =>
    rows.find({ app_id, subject: { $in: page }, tenant_id }).toArray(),
  );
  return new Map(found.map((row) => [placeOf(row), row]));
};

/** What still has to be written for an entry; one that has ended makes room first. */
const writesOf = (
  stored: SuppressionRow | undefined,
  row: SuppressionRow,
  now: Date,
): AnyBulkWriteOperation<SuppressionRow>[] => {
  if (stored === undefined) return [{ insertOne: { document: row } }];
  const filter = { _id: stored._id, revision: stored.revision };
  if (stored.expires_at !== null && stored.expires_at <= now) return [{ deleteOne: { filter } }];
  const change = raisedBy(stored, row);
  if (Object.keys(change).length === 0) return [];
  return [{ updateOne: { filter, update: { $set: { ...change, updated_at: now }, $inc: { revision: 1 } } } }];
};

/**
 * Takes a person out of the entries about them: these stay, and are found again by their subject. What was added after
 * the deletion under an id or address that the app gave is about somebody else. May run twice.
 */
const erasePerson = async (rows: Collection<SuppressionRow>, { appId, userId, keys, at }: Person): Promise<number> => {
  const about = { app_id: appId, people: { $in: [userId, ...keys] } };
  const blank = { address: null, external_id: null, user_id: null, note: null, people: [] };
  await rows.updateMany(
    { ...about, $or: [{ created_at: { $lte: at } }, { user_id: userId }] },
    { $set: blank, $inc: { revision: 1 } },
  );
  return 0;
};
