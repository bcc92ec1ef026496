import type { AnyBulkWriteOperation, Collection, Db } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing, retryConflicts } from "../mongo/duplicate.ts";
import { inPages } from "../mongo/pages.ts";
import { inOneReply, namesAtOnce, subscriptionsNamed, usersNamed } from "../people/named.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";

export type ImportedPeople = ReturnType<typeof importedPeople>;

/** A document as it was read, and what of it changes. */
export type ChangedUser = { read: UserRow; set: Partial<UserRow> };
export type ChangedSubscription = { read: SubscriptionRow; set: Partial<SubscriptionRow> };

/**
 * Users and subscriptions as imports read and write them, many at once. Writers say false when somebody else wrote one of
 * the documents meanwhile: the others are written, and the batch is to be read and written again.
 */
export const importedPeople = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    usersOf: (of: OfApp, externalIds: readonly string[]): Promise<UserRow[]> =>
      usersNamed(
        users,
        of,
        externalIds.map((id) => aliasKey("external_id", id)),
      ),

    usersById: ({ tenantId, appId }: OfApp, ids: readonly string[]): Promise<UserRow[]> =>
      inPages(ids, namesAtOnce, (some) =>
        all(
          users.find({ _id: { $in: [...some] }, app_id: appId, tenant_id: tenantId }, { ...inOneReply, hint: "_id_" }),
        ),
      ),

    subscriptionsAt: (of: OfApp, channel: Channel, tokens: readonly string[]): Promise<SubscriptionRow[]> =>
      subscriptionsNamed(subscriptions, of, { channel, tokens }),

    /** How many subscriptions each of these users has. */
    countsOf: async (appId: string, userIds: readonly string[]): Promise<ReadonlyMap<string, number>> => {
      const options = { ...inOneReply, projection: { user_id: 1 }, hint: "user" };
      const found = await inPages(userIds, namesAtOnce, (some) =>
        all(subscriptions.find({ app_id: appId, user_id: { $in: [...some] } }, options)),
      );
      const counts = new Map<string, number>();
      for (const { user_id: id } of found) counts.set(id, (counts.get(id) ?? 0) + 1);
      return counts;
    },

    addUsers: (rows: readonly UserRow[]): Promise<boolean> => inParts(rows, (part) => added(users, part)),
    addSubscriptions: (rows: readonly SubscriptionRow[]): Promise<boolean> =>
      inParts(rows, (part) => added(subscriptions, part)),

    changeUsers: (changes: readonly ChangedUser[]): Promise<boolean> =>
      inParts(changes, (part) => changed(users, part.map(changeOfUser))),

    changeSubscriptions: (changes: readonly ChangedSubscription[]): Promise<boolean> =>
      inParts(changes, (part) => changed(subscriptions, part.map(changeOfSubscription))),
  };
};

const changeOfUser = ({ read: { _id, revision }, set }: ChangedUser): AnyBulkWriteOperation<UserRow> => ({
  updateOne: { filter: { _id, revision }, update: { $set: set, $inc: { revision: 1 } } },
});

const changeOfSubscription = ({ read, set }: ChangedSubscription): AnyBulkWriteOperation<SubscriptionRow> => {
  const { _id, user_id, token, status } = read;
  return { updateOne: { filter: { _id, user_id, token, status }, update: { $set: set } } };
};

const all = <T>(found: { toArray: () => Promise<T[]> }): Promise<T[]> => found.toArray();

const atOnce = 4; // commands of one batch: the store works on each by one core

/** Calls `write` with parts of a list side by side; whether all of them say true. */
const inParts = async <T>(items: readonly T[], write: (part: readonly T[]) => Promise<boolean>): Promise<boolean> => {
  const size = Math.max(Math.ceil(items.length / atOnce), leastPart);
  const starts = Array.from({ length: Math.ceil(items.length / size) }, (_, n) => n * size);
  return !(await Promise.all(starts.map((from) => write(items.slice(from, from + size))))).includes(false);
};

const leastPart = 100; // a smaller command is hardly faster

/** Those that are there already were stored by an earlier attempt, or their keys are another's. */
const added = async <Row extends { _id: string }>(rows: Collection<Row>, made: readonly Row[]): Promise<boolean> => {
  const known = await retryConflicts(() => insertMissing(rows, made));
  if (known.size === 0) return true;
  const ids = { _id: { $in: [...known] } } as object; // the driver's types cannot see that Row has its `_id`
  return (await rows.countDocuments(ids, { limit: known.size })) === known.size;
};

const changed = async <Row extends { _id: string }>(
  rows: Collection<Row>,
  writes: readonly AnyBulkWriteOperation<Row>[],
): Promise<boolean> => {
  const { matchedCount } = await retryConflicts(() => rows.bulkWrite(writes, { ordered: false }));
  return matchedCount === writes.length;
};
