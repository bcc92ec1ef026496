import type { Db } from "mongodb";
import { collectionOf } from "./collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscriptions.ts";
import { aliasKey, type UserRow, userCollection } from "./users.ts";

export type Targets = ReturnType<typeof targets>;

/** What decides whether a message reaches a subscription. */
export type Probed = Pick<SubscriptionRow, "_id" | "channel" | "status" | "test_device">;

type Of = { tenantId: string; appId: string };

/** Looks up whom a target means, for counting; the dispatcher reads the audience itself (audience.ts). */
export const targets = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** Users that have any of these aliases, with all the aliases they have. */
    byAlias: ({ tenantId, appId }: Of, keys: readonly string[], signal: AbortSignal): Promise<Aliased[]> =>
      byPages(keys, (page) =>
        users
          .find(
            { app_id: appId, alias_keys: { $in: page }, tenant_id: tenantId },
            { projection: { alias_keys: 1 }, signal },
          )
          .toArray(),
      ),

    /** Which of these ids of ours name users of the app. */
    existing: async ({ tenantId, appId }: Of, ids: readonly string[], signal: AbortSignal): Promise<string[]> => {
      const found = await byPages(ids, (page) =>
        users
          .find({ _id: { $in: page }, app_id: appId, tenant_id: tenantId }, { projection: { _id: 1 }, signal })
          .toArray(),
      );
      return found.map(({ _id }) => _id);
    },

    /** Whether any user of the app has an alias of this label. */
    isLabelKnown: async ({ tenantId, appId }: Of, label: string, signal: AbortSignal): Promise<boolean> => {
      const prefix = new RegExp(`^${aliasKey(label, "")}`); // a label has no character that means something here
      const filter = { app_id: appId, alias_keys: prefix, tenant_id: tenantId };
      return (await users.findOne(filter, { projection: { _id: 1 }, signal })) !== null;
    },

    /** Subscriptions by their own ids, or by their users' ids. */
    probe: (
      { tenantId, appId }: Of,
      by: "_id" | "user_id",
      ids: readonly string[],
      signal: AbortSignal,
    ): Promise<Probed[]> =>
      byPages(ids, (page) =>
        subscriptions
          .find(
            { app_id: appId, [by]: { $in: page }, tenant_id: tenantId },
            { projection: { channel: 1, status: 1, test_device: 1 }, signal },
          )
          .toArray(),
      ),
  };
};

export type Aliased = Pick<UserRow, "_id" | "alias_keys">;

const lookupPage = 500; // ids in one $in: keeps each query's plan an index probe

const byPages = async <T>(ids: readonly string[], read: (page: string[]) => Promise<T[]>): Promise<T[]> => {
  const found: T[] = [];
  for (let from = 0; from < ids.length; from += lookupPage)
    found.push(...(await read(ids.slice(from, from + lookupPage))));
  return found;
};
