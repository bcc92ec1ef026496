import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import type { SubscriptionRow } from "../people/subscription-row.ts";
import { activityRecipientCollection } from "./recipient-row.ts";
import { startTokenCollection } from "./start-tokens.ts";

type OfSubscription = { _id: string; app_id: string; subscription_id: string };

/** Forgets what a subscription that is deleted had reported of live activities. A kill leaves tokens that nothing is sent to. */
export const forgetActivities =
  (db: Db) =>
  async ({ _id, app_id }: Pick<SubscriptionRow, "_id" | "app_id">): Promise<void> => {
    for (const spec of [startTokenCollection, activityRecipientCollection])
      await collectionOf<OfSubscription>(db, spec).deleteMany({ app_id, subscription_id: _id });
  };
