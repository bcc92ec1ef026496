import type { Db } from "mongodb";
import type { Attribution } from "../../domain/events/attribution.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo, type OfApp, type Person } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { inPages, type OnPage } from "../mongo/pages.ts";
import { removePages } from "../work/removal-pages.ts";

/**
 * A custom event that counted. `_id` follows from the event or, where only the first of a person and message counts, from
 * those. Written once.
 */
export type ConversionRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  event_id: string;
  event_name: string;
  /** Whom the event is about: `external_id:…`, else `usr_…`, else `sub_…`. */
  person: string | null;
  user_id: string | null;
  external_id: string | null;
  value: number;
  attribution: Attribution["kind"];
  /** How long after the message it could come, as the app said then; null without one, absent of a former release: a day. */
  window_seconds?: number | null;
  /** The delivery that it counts for. */
  message_id: string | null;
  delivery_id: string | null;
  subscription_id: string | null;
  channel: Channel | null;
  /** Of the message, where it is part of one. */
  campaign_id?: string;
  /** Of an influenced one: the messages of the deliveries before it, at most ten, that one first. */
  among: string[];
  occurred_at: Date;
  created_at: Date;
};

export const conversionsKeptDays = 400;

export const conversionCollection: CollectionSpec = {
  name: "conversions",
  indexes: [
    { key: { app_id: 1, event_id: 1 }, name: "event", unique: true },
    { key: { app_id: 1, event_name: 1, occurred_at: 1 }, name: "list" },
    { key: { app_id: 1, person: 1 }, name: "person" },
    { key: { app_id: 1, delivery_id: 1 }, name: "delivery" },
    { key: { app_id: 1, created_at: 1, _id: 1 }, name: "changed" }, // for warehouse exports: docs/decisions/0126
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: conversionsKeptDays * 86_400 },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "list" },
  erasure: { erase: (db, person, onPage) => erasePerson(db, person, onPage) },
  retention: { index: "retention" },
};

export type Conversions = ReturnType<typeof conversions>;

/** What names an event. */
type OfEvent = Pick<ConversionRow, "app_id" | "event_id">;

const page = 500;

export const conversions = (db: Db) => {
  const rows = collectionOf<ConversionRow>(db, conversionCollection);
  const ofEvents = async (events: readonly OfEvent[]): Promise<ConversionRow[]> => {
    const byApp = [...Map.groupBy(events, ({ app_id: appId }) => appId)];
    const found = byApp.map(([appId, of]) =>
      inPages(of, page, (some) => {
        const ids = some.map(({ event_id: id }) => id);
        return rows.find({ app_id: appId, event_id: { $in: ids } }, { batchSize: page + 1 }).toArray();
      }),
    );
    return (await Promise.all(found)).flat();
  };
  return {
    /** Those that these events have made. */
    ofEvents,

    /** Those that count for some deliveries of an app. */
    ofDeliveries: ({ tenantId, appId }: OfApp, deliveryIds: readonly string[]): Promise<ConversionRow[]> =>
      inPages(deliveryIds, page, (some) => {
        const filter = { app_id: appId, delivery_id: { $in: some }, tenant_id: tenantId };
        return rows.find(filter, { hint: "delivery" }).toArray();
      }),

    /** Stores conversions; gives those that stand for their event: not those that another event has made before. */
    keep: async (made: readonly ConversionRow[]): Promise<ConversionRow[]> => {
      if (made.length === 0) return [];
      const inOrder = made.toSorted((a, b) => (a._id < b._id ? -1 : 1)); // so that writers who meet wait for each other, and not in a circle
      const others = await retryConflicts(() => insertMissing(rows, inOrder));
      const own = made.filter(({ _id }) => !others.has(_id));
      const lost = made.filter(({ _id }) => others.has(_id));
      return lost.length === 0 ? own : [...own, ...(await ofEvents(lost))];
    },
  };
};

/** When the oldest conversion of an app was stored that is kept; null without one. */
export const oldestConversion =
  (db: Db) =>
  async ({ tenantId, appId }: OfApp): Promise<Date | null> => {
    const filter = { app_id: appId, created_at: { $gt: longAgo, $lt: farAhead }, tenant_id: tenantId };
    const options = { hint: "changed", sort: { created_at: 1, _id: 1 }, projection: { created_at: 1 } } as const;
    const row = await collectionOf<ConversionRow>(db, conversionCollection).findOne(filter, options);
    return row?.created_at ?? null;
  };

/** Removes what is about a person; by a name of the caller's only what was made before the person was deleted. */
const erasePerson = async (db: Db, { appId, userId, keys, at }: Person, onPage?: OnPage): Promise<number> => {
  const rows = collectionOf<ConversionRow>(db, conversionCollection);
  for (const person of new Set([userId, ...keys])) {
    const isOurs = person.startsWith("usr_") || person.startsWith("sub_");
    const filter = { app_id: appId, person, ...(!isOurs && { created_at: { $lte: at } }) };
    await removePages(rows, { filter, hint: "person", pages: Number.POSITIVE_INFINITY, onPage });
  }
  return 0;
};
