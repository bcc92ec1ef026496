import type { Collection, Db, UpdateFilter } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertMissing, isDuplicateKey, retryConflicts } from "../mongo/duplicate.ts";
import { subscriptionsNamed, usersNamed } from "./named.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";
import { type UserRow, userCollection } from "./users.ts";

export type ManyPeople = ReturnType<typeof manyPeople>;

/** A user as they were read, and what of them changes. */
export type ChangedUser = { read: UserRow; update: UpdateFilter<UserRow> };

/** Users and subscriptions as a batch of requests reads and writes them, many in one command. */
export const manyPeople = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** The users who have any of these aliases. */
    usersOf: (of: OfApp, keys: readonly string[]): Promise<UserRow[]> => usersNamed(users, of, keys),

    /** The subscriptions of a channel that have any of these tokens. */
    subscriptionsAt: (of: OfApp, channel: Channel, tokens: readonly string[]): Promise<SubscriptionRow[]> =>
      subscriptionsNamed(subscriptions, of, { channel, tokens }),

    /** Stores users; gives the ids of those of whom an alias is taken, or who are there already. */
    addUsers: (rows: readonly UserRow[]): Promise<ReadonlySet<string>> => added(users, rows),

    /** Stores subscriptions; gives the ids of those whose token is taken. */
    addSubscriptions: (rows: readonly SubscriptionRow[]): Promise<ReadonlySet<string>> => added(subscriptions, rows),

    /** Changes users; false when one is not as it was read, or an alias is taken: some are changed then. */
    changeUsers: (changes: readonly ChangedUser[]): Promise<boolean> => retryConflicts(() => changed(users, changes)),
  };
};

const added = async <Row extends { _id: string }>(
  rows: Collection<Row>,
  made: readonly Row[],
): Promise<ReadonlySet<string>> => (made.length === 0 ? new Set() : retryConflicts(() => insertMissing(rows, made)));

const changed = async (rows: Collection<UserRow>, changes: readonly ChangedUser[]): Promise<boolean> => {
  const writes = changes.map(({ read: { _id, tenant_id, alias_keys, revision }, update }) => ({
    updateOne: { filter: { _id, tenant_id, alias_keys, revision }, update },
  }));
  try {
    return (await rows.bulkWrite(writes, { ordered: false })).matchedCount === changes.length;
  } catch (error) {
    if (isDuplicateKey(error)) return false;
    throw error;
  }
};
