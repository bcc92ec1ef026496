import type { Db, Filter } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { findIds, inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

export type SubscriptionCounts = ReturnType<typeof subscriptionCounts>;

/** A stretch of the audience of `all`: subscriptions of one channel and status, by id. */
export type Stretch = { channel: Channel; status: "subscribed" | "unsubscribed" };

/** Whose subscriptions, and which of them a message of a category may reach. */
export type Audience = {
  tenantId: string;
  appId: string;
  reach: readonly Stretch[];
  testOnly: boolean;
  category: string | null;
};

/** A stretch of an app's audience, in the order of ids. */
export type AppStretch = Stretch & { appId: string; testOnly: boolean };

const pageNames = 500; // in one $in: keeps each query's plan an index probe

/** Counts of many subscriptions: each reads as much of an index as it counts, and is bounded by what its caller wants. */
export const subscriptionCounts = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** How many of a stretch there are behind an id, at most `most`. */
    behind: (of: AppStretch, id: string, most: number): Promise<number> =>
      rows.countDocuments(stretchFilter(of, id), { limit: most }),

    /** The id of the nth of a stretch behind an id; null when there are fewer. */
    nthBehind: async (of: AppStretch, id: string, n: number): Promise<string | null> => {
      const found = rows.find(stretchFilter(of, id), { projection: { _id: 1 } }).sort({ _id: 1 });
      const [row] = await found
        .skip(n - 1)
        .limit(1)
        .toArray();
      return row?._id ?? null;
    },

    /** Ids of those of a stretch that have any of these addresses, or belong to any of these users. */
    named: async (of: AppStretch, { tokens, userIds }: { tokens: string[]; userIds: string[] }): Promise<string[]> => {
      const { appId, channel, status, testOnly } = of;
      const one = { app_id: appId, channel, status, ...(testOnly && { test_device: true }) };
      const found = await Promise.all([
        inPages(tokens, pageNames, (page) => findIds(rows, { ...one, token: { $in: page } }, { hint: "token" })),
        inPages(userIds, pageNames, (page) => findIds(rows, { ...one, user_id: { $in: page } }, { hint: "user" })),
      ]);
      return found.flat();
    },

    /**
     * How many subscriptions of these apps count against the plan, all that are not invalid; at most `most`. Asked by members
     * of the index of audiences alone, as in {@link stretchFilter}.
     */
    billable: (appIds: readonly string[], most: number): Promise<number> =>
      rows.countDocuments(
        { app_id: { $in: [...appIds] }, status: { $in: ["subscribed", "unsubscribed"] } },
        { limit: most, hint: "audience" },
      ),
  };
};

/**
 * Those of a stretch behind an id, up to another where one is given. Members of the index of audiences alone: another one
 * would cost twice as much. An app is one tenant's.
 */
export const stretchFilter = (
  { appId, channel, status, testOnly }: AppStretch,
  id: string,
  until?: string,
): Filter<SubscriptionRow> => ({
  app_id: appId,
  channel,
  status,
  _id: until === undefined ? idsBehind("subscription", id) : { $gt: id, $lte: until },
  ...(testOnly && { test_device: true }),
});
