import type { Collection, Db, Filter } from "mongodb";
import { defined } from "../../domain/defined.ts";
import type { Suppressed, SuppressionEntry } from "../../domain/suppressions/strength.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, type OfApp, type Person } from "../mongo/collection.ts";
import { type PagePlace, pageRange } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";
import { readSlices, type Slices } from "../mongo/read-slices.ts";
import type { Within } from "../mongo/read-within.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import { deletions } from "../warehouse/deletions.ts";
import { entryCounts } from "./counts.ts";
import { newOf, putter, takeBack } from "./put.ts";
import type { SuppressionRow } from "./suppression-row.ts";

export type { SuppressionRow } from "./suppression-row.ts";

export const suppressionCollection: CollectionSpec = {
  name: "suppressions",
  indexes: [
    { key: { app_id: 1, subject: 1, channel: 1 }, name: "subject", unique: true },
    { key: { app_id: 1, _id: -1 }, name: "list" },
    { key: { app_id: 1, people: 1 }, name: "people" },
    { key: { app_id: 1, channel: 1 }, name: "channel" },
    changeIndex, // for warehouse exports: docs/decisions/0126
    { key: { expires_at: 1 }, name: "retention", expireAfterSeconds: 0 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { erase: (db, person) => erasePerson(db, person) },
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
export const suppressions = (db: Db, slices?: Slices) => {
  const rows = collectionOf<SuppressionRow>(db, suppressionCollection);
  const [counts, deleted] = [entryCounts(db, rows), deletions(db)];
  return {
    counts,

    find: ({ tenantId, appId }: OfApp, id: string, now: Date): Promise<SuppressionRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId, ...lasting(now) }),

    /**
     * One page of an app's entries, in the order in which they were added. No index finds those of a reason: where few
     * of many fit, it is shorter.
     */
    page: async (
      { tenantId, appId }: OfApp,
      { subject, from, to, ...narrowed }: SuppressionFilter,
      { limit, ...page }: PagePlace & { limit: number },
      { now, signal }: { now: Date; signal: AbortSignal },
    ): Promise<Within<SuppressionRow>> => {
      const range = pageRange("suppression", { from, to }, page);
      const narrow = conditions(narrowed);
      const wanted = { tenant_id: tenantId, ...lasting(now), ...narrow };
      const { isDescending } = page;
      if (subject === undefined && Object.keys(narrow).length > 0) {
        const list = { of: { app_id: appId }, by: "_id", range, isDescending, hint: "list" } as const;
        return readSlices(rows, { ...list, wanted, limit }, signal, slices);
      }
      const filter = { app_id: appId, ...defined({ subject }), _id: range, ...wanted };
      const found = rows.find(filter, { hint: subject === undefined ? "list" : "subject", signal });
      return {
        rows: await found
          .sort({ _id: isDescending ? -1 : 1 })
          .limit(limit)
          .toArray(),
        isWhole: true,
      };
    },

    put: putter(rows, counts.add),

    /** How many of these entries of one app there are not yet. */
    newOf: (made: readonly SuppressionRow[], now: Date): Promise<number> => newOf(rows, made, now),

    ...reads(rows),
    ...explained(rows),

    /** Takes back the opt-out that was said by the status of a subscription, and leaves what there is beside it. */
    takeBack: (of: OfApp, place: Pick<SuppressionRow, "subject" | "channel">, now: Date): Promise<void> =>
      takeBack({ rows, count: counts.add, deleted }, of, place, now),

    /** False when it is no longer as it was read. */
    remove: async ({ _id, tenant_id, app_id, revision }: SuppressionRow, now: Date): Promise<boolean> => {
      await deleted.note({ tenantId: tenant_id, appId: app_id }, "suppressions", [_id], now);
      const { deletedCount } = await rows.deleteOne({ _id, tenant_id, revision });
      await counts.add(app_id, -deletedCount);
      return deletedCount === 1;
    },
  };
};

/** What receipts and sending do with the list. */
const reads = (rows: Collection<SuppressionRow>) => ({
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

  /** The opt-out that a carrier or provider was told before an instant; null when there is none. */
  told: (
    { tenantId, appId }: OfApp,
    of: Pick<SuppressionRow, "subject" | "channel">,
    before: Date,
  ): Promise<SuppressionRow | null> => {
    const at = { app_id: appId, ...of, tenant_id: tenantId, created_at: { $lte: before } };
    const told = [{ reason: "carrier_opt_out" }, { reason: "unsubscribe", source: "provider" }] as const;
    return rows.findOne({ ...at, $or: [...told] });
  },
});

/** What explanations do with the list. */
const explained = (rows: Collection<SuppressionRow>) => ({
  /** The entries about one person that a message on a channel may meet, with since when and why. */
  said: ({ tenantId, appId }: OfApp, channel: Channel, subjects: readonly string[], now: Date): Promise<SaidEntry[]> =>
    rows
      .find(
        {
          app_id: appId,
          subject: { $in: [...subjects] },
          channel: { $in: [channel, null] },
          tenant_id: tenantId,
          ...lasting(now),
        },
        { projection: said, hint: "subject" },
      )
      .toArray(),
});

/** What of an entry decides whether a message is held back by it. */
export type Met = Pick<SuppressionRow, "subject" | "reason" | "categories">;
const met = { _id: 0, subject: 1, reason: 1, categories: 1 } as const;

/** The same, with what people who ask are told. */
export type SaidEntry = Pick<SuppressionRow, "_id" | "reason" | "categories" | "source" | "created_at" | "expires_at">;
const said = { reason: 1, categories: 1, source: 1, created_at: 1, expires_at: 1 } as const;

/** The same, with whom it names. */
export type Listed = Pick<SuppressionRow, "_id" | "reason" | "categories" | "address" | "user_id">;
const listed = { reason: 1, categories: 1, address: 1, user_id: 1 } as const;
const pageListed = 1_000;

/** Whom an entry is about. `key` is theirs in events, such as `email:anna@example.com`. */
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
  { id, about, said, at }: { id: string; about: Subject; said: SuppressionEntry; at: Date },
): SuppressionRow => ({
  _id: id,
  tenant_id: tenantId,
  app_id: appId,
  channel: about.channel,
  subject: about.subject,
  address: about.address,
  external_id: about.externalId,
  user_id: about.userId,
  people: about.userId === null || about.userId === about.key ? [about.key] : [about.key, about.userId],
  ...said,
  revision: 0,
  created_at: at,
  updated_at: at,
});

const pageSubjects = 500; // in one $in: keeps each query's plan an index probe

const conditions = ({ channels, reasons, sources, category }: SuppressionFilter): Filter<SuppressionRow> =>
  defined({ channel: anyOf(channels), reason: anyOf(reasons), source: anyOf(sources), categories: category });

const anyOf = <T>(values: readonly T[] | undefined) => values && { $in: [...values] };

const lasting = (now: Date) => ({ expires_at: { $not: { $lte: now } } });

/**
 * Takes a person out of the entries about them: these stay, and are found again by their subject. What was added after
 * the deletion under an id or address that the app gave is about somebody else. May run twice.
 */
const erasePerson = async (db: Db, person: Person): Promise<number> => {
  const rows = collectionOf<SuppressionRow>(db, suppressionCollection);
  const { appId, userId, keys, at } = person;
  const about = { app_id: appId, people: { $in: [userId, ...keys] } };
  const blank = { address: null, external_id: null, user_id: null, note: null, people: [] };
  const own = { ...about, $or: [{ created_at: { $lte: at } }, { user_id: userId }] };
  await removeOwn(db, rows, person);
  const noted = { ...own, "beside_status.note": { $type: "string" } } as const;
  await rows.updateMany(noted, { $set: { "beside_status.note": null }, $inc: { revision: 1 } });
  await rows.updateMany(own, { $set: blank, $inc: { revision: 1 }, $currentDate: { updated_at: true } });
  return 0;
};

const mostOwn = 1_000; // one for each channel, of the person and of those who were merged into them

/** Removes what is about our ids of them alone: nobody gets these again. */
const removeOwn = async (db: Db, rows: Collection<SuppressionRow>, { tenantId, appId, userId, keys, at }: Person) => {
  const filter = { app_id: appId, people: { $in: [userId, ...keys] }, address: null, external_id: null };
  const found = await rows
    .find(filter, { projection: { _id: 1 }, hint: "people" })
    .limit(mostOwn)
    .toArray();
  if (found.length === 0) return;
  const ids = found.map(({ _id }) => _id);
  await deletions(db).note({ tenantId, appId }, "suppressions", ids, at);
  const { deletedCount } = await rows.deleteMany({ ...filter, _id: { $in: ids } });
  await entryCounts(db, rows).add(appId, -deletedCount);
};
