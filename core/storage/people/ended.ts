import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import { cameAndWent } from "../../domain/people/came-back.ts";
import { subscriptionEvent } from "../../domain/people/events.ts";
import type { Channel, ContactChannel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import { isEnded } from "./subscriptions.ts";

/** An address that is gone, as the provider says, and since when. */
export type Gone = Pick<SubscriptionRow, "_id" | "token"> & { since: Date };

/** A subscription that ends, and how; `since`: when its person, or the provider, said so. */
export type End = Gone & { status: "invalid" | "unsubscribed"; reason: string };

const page = 500; // ids in one filter

/** Marks subscriptions whose address is gone; see {@link ended}. */
export const invalidated =
  (db: Db) =>
  (gone: readonly Gone[], now: Date): Promise<void> =>
    ended(db)(
      gone.map((one) => ({ ...one, status: "invalid", reason: "token_invalid" })),
      now,
    );

/**
 * Ends subscriptions; their events are due at once. One that got a new token meanwhile is left alone. So is one whose
 * address is gone and whose device was seen after the provider lost it: it has registered the same token again.
 */
export const ended =
  (db: Db) =>
  async (ends: readonly End[], now: Date): Promise<void> => {
    const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
    for (let from = 0; from < ends.length; from += page) {
      const named = new Map(ends.slice(from, from + page).map((one) => [one._id, one]));
      const found = await rows.find({ _id: { $in: [...named.keys()] } }, { batchSize: page + 1 }).toArray();
      const marks = found.flatMap((row) => {
        const end = named.get(row._id);
        return end !== undefined && isDue(row, end) ? [mark(row, end, now)] : [];
      });
      if (marks.length > 0) await rows.bulkWrite(marks, { ordered: false });
    }
  };

const isDue = (row: SubscriptionRow, { token, status, since }: End): boolean => {
  if (row.token !== token) return false;
  return status === "invalid" ? row.status !== "invalid" && row.last_active_at <= since : row.status === "subscribed";
};

/** Does nothing to one that changed since it was read. */
const mark = (
  row: SubscriptionRow,
  { status, reason, since }: End,
  now: Date,
): AnyBulkWriteOperation<SubscriptionRow> => {
  const { _id, token, last_active_at } = row;
  const set = {
    status,
    status_reason: reason,
    updated_at: now,
    ...cameAndWent(row.status, status, since),
    ...(status === "unsubscribed" && { unsubscribed_at: since }),
  };
  const kind = status === "invalid" ? "subscription.invalidated" : "subscription.unsubscribed";
  const isTold = status === "invalid" || isEnded(row, set);
  const event = subscriptionEvent(kind, { ...row, ...set }, now);
  const update = isTold ? { $set: { ...set, due_at: now }, $push: { outbox: event } } : { $set: set };
  return { updateOne: { filter: { _id, token, status: row.status, last_active_at }, update } };
};

/** What suppressions do to the subscriptions of addresses that people tell others. */
export const contactSubscriptions = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** By their addresses on a channel. */
    at: ({ tenantId, appId }: OfApp, channel: ContactChannel, addresses: readonly string[]): Promise<Contact[]> =>
      inPages(addresses, page, (some) =>
        rows
          .find({ app_id: appId, channel, token: { $in: some }, tenant_id: tenantId }, { projection: contact })
          .toArray(),
      ),

    /** By their ids. */
    byId: (ids: readonly string[]): Promise<Contact[]> =>
      inPages(ids, page, (some) => rows.find({ _id: { $in: some } }, { projection: contact }).toArray()),

    end: ended(db),

    /** Has those subscribed again that this reason had unsubscribed. */
    resume: async (
      { tenantId, appId }: OfApp,
      of: { channel: ContactChannel; address: string; reason: string },
      now: Date,
    ) => {
      const { channel, address, reason } = of;
      await rows.updateOne(
        { app_id: appId, channel, token: address, tenant_id: tenantId, status: "unsubscribed", status_reason: reason },
        {
          $set: {
            status: "subscribed",
            status_reason: null,
            unsubscribed_at: null,
            ...cameAndWent("unsubscribed", "subscribed", now),
            updated_at: now,
          },
        },
      );
    },

    restore: restored(rows),
    marks: marks(rows),
  };
};

/** Has the subscription of an address valid again that became invalid for one of these reasons; false when there is none. */
const restored =
  (rows: Collection<SubscriptionRow>) =>
  async (
    { tenantId, appId }: OfApp,
    { channel, address, reasons }: { channel: Channel; address: string; reasons: readonly string[] },
    now: Date,
  ): Promise<boolean> => {
    const at = { app_id: appId, channel, token: address, tenant_id: tenantId };
    const ended = { status: "invalid", status_reason: { $in: [...reasons] } } as const;
    const back = (after: "subscribed" | "unsubscribed") => ({
      ...cameAndWent("invalid", after, now),
      updated_at: now,
    });
    const subscribed = { status: "subscribed", status_reason: null, ...back("subscribed") } as const;
    const optedOut = { status: "unsubscribed", status_reason: "api", ...back("unsubscribed") } as const;
    for (const [before, after] of [
      [{ unsubscribed_at: null }, subscribed],
      [{ unsubscribed_at: { $ne: null } }, optedOut],
    ] as const) {
      const { matchedCount } = await rows.updateOne({ ...at, ...ended, ...before }, { $set: after });
      if (matchedCount > 0) return true;
    }
    return false;
  };

/** What of a subscription a suppression is about. */
export type Contact = Pick<SubscriptionRow, "_id" | "user_id" | "token" | "channel" | Mark>;
const contact = { user_id: 1, token: 1, channel: 1, soft_bounces: 1, unreachable: 1 } as const;

/** What is remembered of an address since something last came through to it. */
export type Mark = "soft_bounces" | "unreachable";

const mostMarks = 20; // of each kind

/** Failures that end an address only when there are several. */
const marks = (rows: Collection<SubscriptionRow>) => ({
  /** Remembers one once, however often it is told; gives all that are remembered. */
  add: async (id: string, mark: Mark, at: Date): Promise<readonly Date[]> => {
    await rows.updateOne({ _id: id, [mark]: { $ne: at } }, { $push: { [mark]: { $each: [at], $slice: -mostMarks } } });
    return (await rows.findOne<Contact>({ _id: id }, { projection: contact }))?.[mark] ?? [];
  },

  /** Forgets those of addresses that something came through to. */
  forget: async (ids: readonly string[]): Promise<void> => {
    if (ids.length === 0) return;
    const marked = { $or: [{ soft_bounces: { $exists: true } }, { unreachable: { $exists: true } }] };
    await rows.updateMany({ _id: { $in: [...ids] }, ...marked }, { $unset: { soft_bounces: "", unreachable: "" } });
  },
});
