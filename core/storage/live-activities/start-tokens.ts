import type { Db } from "mongodb";
import { derivedId } from "../../domain/ids.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { inPages } from "../mongo/pages.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";

/**
 * A device's push-to-start token for one type: by it an activity is started without the app. Whose it is, its subscription
 * says: that may move to another user.
 */
export type StartTokenRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  type_id: string;
  subscription_id: string;
  token: string;
  updated_at: Date;
};

export const startTokenCollection: CollectionSpec = {
  name: "live_activity_start_tokens",
  indexes: [
    { key: { app_id: 1, type_id: 1, subscription_id: 1 }, name: "audience" },
    { key: { app_id: 1, type_id: 1, token: 1 }, name: "token" },
    { key: { app_id: 1, subscription_id: 1 }, name: "subscription" },
    { key: { updated_at: 1 }, name: "retention", expireAfterSeconds: 365 * 86_400 }, // devices report theirs at each launch
  ],
  former: ["user"],
  owner: { kind: "subscription", member: "subscription_id" },
  appRemoval: { index: "audience" },
  erasure: { subscription: "subscription_id" },
  retention: { index: "retention" },
};

/** A type of an app. */
export type OfType = { appId: string; typeId: string };

const page = 500; // ids in one filter
const mostCounted = 10_000;

export type StartTokens = ReturnType<typeof startTokens>;

export const startTokens = (db: Db) => {
  const rows = collectionOf<StartTokenRow>(db, startTokenCollection);
  return {
    /** Stores a subscription's token; whoever else had this token for the type has it no longer: the device is another's. */
    put: async (subscription: SubscriptionRow, typeId: string, token: string, now: Date): Promise<void> => {
      const { _id: subscriptionId, tenant_id, app_id } = subscription;
      const _id = startTokenId(typeId, subscriptionId);
      await rows.updateOne(
        { _id },
        {
          $set: { token, updated_at: now },
          $setOnInsert: { tenant_id, app_id, type_id: typeId, subscription_id: subscriptionId },
        },
        { upsert: true },
      );
      await rows.deleteMany({ app_id, type_id: typeId, token, _id: { $ne: _id } });
    },

    /** Forgets a subscription's token, unless it has another by now. */
    remove: async (typeId: string, subscriptionId: string, token: string): Promise<void> => {
      await rows.deleteOne({ _id: startTokenId(typeId, subscriptionId), token });
    },

    /** Forgets a subscription's token, whichever it is. */
    forget: async (typeId: string, subscriptionId: string): Promise<void> => {
      await rows.deleteOne({ _id: startTokenId(typeId, subscriptionId) });
    },

    /** Forgets tokens that Apple says are gone; those that were reported anew stay. */
    removeLost: async (typeId: string, lost: readonly { subscriptionId: string; token: string }[]): Promise<void> => {
      if (lost.length === 0) return;
      const writes = lost.map(({ subscriptionId, token }) => ({
        deleteOne: { filter: { _id: startTokenId(typeId, subscriptionId), token } },
      }));
      await rows.bulkWrite(writes, { ordered: false });
    },

    /** Tokens for a type, by subscription. */
    of: async (typeId: string, subscriptionIds: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const ids = subscriptionIds.map((id) => startTokenId(typeId, id));
      const found = await inPages(ids, page, (some) => rows.find({ _id: { $in: some } }).toArray());
      return new Map(found.map((row) => [row.subscription_id, row.token]));
    },

    /** Ids of subscriptions with a token for a type, in their order, behind one. */
    page: async ({ appId, typeId }: OfType, after: string, limit: number): Promise<string[]> => {
      const filter = { app_id: appId, type_id: typeId, subscription_id: idsBehind("subscription", after) };
      const found = rows.find(filter, { projection: { subscription_id: 1 }, batchSize: limit + 1 });
      return (await found.sort({ subscription_id: 1 }).limit(limit).toArray()).map((row) => row.subscription_id);
    },

    /** How many there are for a type, at most 10,000 unless another limit is given. */
    count: ({ appId, typeId }: OfType, limit = mostCounted): Promise<number> =>
      rows.countDocuments({ app_id: appId, type_id: typeId }, { limit }),
  };
};

/** The id of the document of a subscription's token for a type. */
export const startTokenId = (typeId: string, subscriptionId: string): string =>
  derivedId("liveActivityToken", typeId, subscriptionId);
