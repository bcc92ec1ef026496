import type { Collection, Db, Filter, UpdateFilter } from "mongodb";
import { subscriptionEvent } from "../../domain/people/events.ts";
import { AppError } from "../../errors.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew, oneWriter, unlessTaken } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";
import { sweepAfter } from "../work/due.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import type { UserRow } from "./users.ts";

export type Subscriptions = ReturnType<typeof subscriptions>;

/** Subscriptions of one user: 20 by the interface, the rest is room for imports. */
export const mostOfUser = 100;

/** Some in the order of their ids. An index with that order, which is chosen without the hint, leads through a whole app. */
const byUser = (
  rows: Collection<SubscriptionRow>,
  filter: Filter<SubscriptionRow>,
  most: number,
): Promise<SubscriptionRow[]> => rows.find(filter, { hint: "user" }).sort({ _id: 1 }).limit(most).toArray();

export const subscriptions = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const alone = oneWriter();
  return {
    find: ({ tenantId, appId }: OfApp, id: string): Promise<SubscriptionRow | null> =>
      rows.findOne({ _id: id, tenant_id: tenantId, app_id: appId }),

    findByToken: ({ tenantId, appId }: OfApp, channel: Channel, token: string): Promise<SubscriptionRow | null> =>
      rows.findOne({ app_id: appId, channel, token, tenant_id: tenantId }),

    /** Who has these tokens of a channel: ids of users by token. */
    ownersOf: (of: OfApp, channel: Channel, tokens: readonly string[]): Promise<ReadonlyMap<string, string>> =>
      ownersOf(rows, of, channel, tokens),

    ofUser: ({ tenantId, appId }: OfApp, userId: string): Promise<SubscriptionRow[]> =>
      byUser(rows, { app_id: appId, user_id: userId, tenant_id: tenantId }, mostOfUser),

    /** Writes the subscription of (app, channel, token): stores `made`, or changes the one that is there as it is now. */
    put: (tenantId: string, wanted: SubscriptionPut): Promise<Put> =>
      alone(`${wanted.made.app_id} ${wanted.made.channel} ${wanted.made.token}`, () => put(rows, tenantId, wanted)),

    /** Null when it is gone, or no longer as it was read; "taken" when another has that token. */
    update: (
      tenantId: string,
      read: SubscriptionRow,
      change: Partial<SubscriptionRow>,
    ): Promise<SubscriptionRow | "taken" | null> =>
      unlessTaken(() => changeRead(rows, tenantId, read, change), "taken"),

    remove: async (tenantId: string, id: string): Promise<boolean> =>
      (await rows.deleteOne({ _id: id, tenant_id: tenantId })).deletedCount === 1,

    /** Removes those of a user that have one of these ids. */
    removeOfUser: async ({ _id, app_id, tenant_id }: UserRow, ids: readonly string[]): Promise<void> => {
      await rows.deleteMany({ app_id, user_id: _id, tenant_id, _id: { $in: [...ids] } });
    },

    /** The subscriptions of several users of an app. */
    ofUsers: (appId: string, userIds: readonly string[]): Promise<SubscriptionRow[]> =>
      byUser(rows, { app_id: appId, user_id: { $in: [...userIds] } }, mostOfUser * userIds.length),

    /** Repeats a user's external id on their subscriptions. */
    nameOwner: async ({
      _id,
      tenant_id,
      app_id,
      external_id,
    }: Pick<UserRow, "_id" | "tenant_id" | "app_id" | "external_id">): Promise<void> => {
      await rows.updateMany(
        { app_id, user_id: _id, tenant_id, external_id: { $ne: external_id } },
        { $set: { external_id }, $currentDate: { updated_at: true } },
      );
    },
  };
};

const pageTokens = 500; // in one $in: keeps each query's plan an index probe
const owned = { token: 1, user_id: 1 };

const ownersOf = async (
  rows: Collection<SubscriptionRow>,
  { tenantId, appId }: OfApp,
  channel: Channel,
  tokens: readonly string[],
): Promise<ReadonlyMap<string, string>> => {
  const found = await inPages(tokens, pageTokens, (page) =>
    rows.find({ app_id: appId, channel, token: { $in: page }, tenant_id: tenantId }, { projection: owned }).toArray(),
  );
  return new Map(found.map(({ token, user_id: userId }) => [token, userId]));
};

export type SubscriptionPut = {
  made: SubscriptionRow;
  /** The one that has the token, as it was read a moment ago; undefined when that is not known. */
  known: SubscriptionRow | undefined;
  /** What one that is there becomes. */
  change: (read: SubscriptionRow) => Partial<SubscriptionRow>;
};

/** `hasNews`: this very write put an event into the outbox. */
export type Put = { row: SubscriptionRow; isNew: boolean; hasNews: boolean };

const attempts = 3; // each lost to another writer of the same token

const put = async (
  rows: Collection<SubscriptionRow>,
  tenantId: string,
  { made, known, change }: SubscriptionPut,
): Promise<Put> => {
  const { app_id, channel, token } = made;
  const filter = { app_id, channel, token, tenant_id: tenantId };
  const row = withCreated(made);
  let read = known ?? (await rows.findOne(filter));
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (read === null && (await insertNew(rows, row))) return { row, isNew: true, hasNews: true };
    const changed = read === null ? null : await changeRead(rows, tenantId, read, change(read));
    if (read !== null && changed !== null) return { row: changed, isNew: false, hasNews: isEnded(read, changed) };
    read = await rows.findOne(filter);
  }
  throw new AppError("HS_CONFLICT", "the token is being registered and deleted by others", { status: "busy" });
};

/** Null when it is gone, or no longer as it was read. */
export const changeRead = (
  rows: Collection<SubscriptionRow>,
  tenantId: string,
  read: SubscriptionRow,
  change: Partial<SubscriptionRow>,
): Promise<SubscriptionRow | null> => {
  const filter = { _id: read._id, tenant_id: tenantId, ...asRead(read) };
  return rows.findOneAndUpdate(filter, withEvent(read, change), { returnDocument: "after" });
};

/** What the event of its end says of a subscription must still be so. */
const asRead = ({ status, user_id, token }: SubscriptionRow) => ({ status, user_id, token });

/** Whether a change ended a subscription: then there is an event. One that was invalid may have had it before. */
export const isEnded = (
  before: Pick<SubscriptionRow, "status" | "unsubscribed_at">,
  after: Partial<SubscriptionRow>,
): boolean => after.status === "unsubscribed" && before.status !== "unsubscribed" && before.unsubscribed_at === null;

/** A new one, with its event. */
export const withCreated = (row: SubscriptionRow): SubscriptionRow => ({
  ...row,
  outbox: [subscriptionEvent("subscription.created", row, row.created_at)],
  due_at: sweepAfter(row.created_at),
});

/** A change, with its event when it ends the subscription. */
const withEvent = (read: SubscriptionRow, change: Partial<SubscriptionRow>): UpdateFilter<SubscriptionRow> => {
  if (!isEnded(read, change)) return { $set: change };
  const row = { ...read, ...change };
  const event = subscriptionEvent("subscription.unsubscribed", row, row.updated_at);
  return { $set: { ...change, due_at: sweepAfter(row.updated_at) }, $push: { outbox: event } };
};
