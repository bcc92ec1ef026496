import type { Db } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { type UserRow, userCollection } from "../people/users.ts";

export type WhySubjects = ReturnType<typeof whySubjects>;

/** Finds whom somebody asks about by other things than their name: always by an index. */
export const whySubjects = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    person: ({ tenantId, appId }: OfApp, id: string): Promise<UserRow | null> =>
      users.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    subscription: ({ tenantId, appId }: OfApp, id: string): Promise<SubscriptionRow | null> =>
      subscriptions.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    /** Those with an address, as each channel spells it. */
    addressed: (
      { tenantId, appId }: OfApp,
      spelt: readonly { channel: Channel; token: string }[],
    ): Promise<SubscriptionRow[]> =>
      subscriptions
        .find(
          {
            app_id: appId,
            channel: { $in: spelt.map(({ channel }) => channel) },
            token: { $in: [...new Set(spelt.map(({ token }) => token))] },
            tenant_id: tenantId,
          },
          { hint: "token" },
        )
        .toArray(),
  };
};
