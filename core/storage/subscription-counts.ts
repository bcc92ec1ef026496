import type { Db } from "mongodb";
import type { Stretch } from "./chunks.ts";
import { collectionOf } from "./collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "./subscription-row.ts";

export type SubscriptionCounts = ReturnType<typeof subscriptionCounts>;

/** Whose subscriptions, and which of them a message may reach. */
export type Audience = { tenantId: string; appId: string; reach: readonly Stretch[]; testOnly: boolean };

/** Counts over a whole app or tenant: keep the result for a while, they read as much index as they count. */
export const subscriptionCounts = (db: Db) => {
  const rows = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** How many of an app's subscriptions a message to all would reach. */
    reached: async ({ tenantId, appId, reach, testOnly }: Audience): Promise<number> => {
      const test = testOnly ? { test_device: true } : {};
      const counts = await Promise.all(
        reach.map((stretch) => rows.countDocuments({ app_id: appId, ...stretch, tenant_id: tenantId, ...test })),
      );
      return counts.reduce((sum, count) => sum + count, 0);
    },

    /** How many subscriptions of these apps count against the plan: all that are not invalid. */
    billable: (tenantId: string, appIds: readonly string[]): Promise<number> =>
      rows.countDocuments({
        app_id: { $in: [...appIds] },
        tenant_id: tenantId,
        status: { $in: ["subscribed", "unsubscribed"] },
      }),
  };
};
