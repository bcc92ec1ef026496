import type { Collection } from "mongodb";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import type { OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import type { SubscriptionRow } from "./subscription-row.ts";
import type { UserRow } from "./users.ts";

/** Names in one `$in`: keeps each query's plan an index probe. */
export const namesAtOnce = 500;

/** What a page of names finds comes in one reply. */
export const inOneReply = { batchSize: namesAtOnce * 101 };

/** The users of an app who have any of these aliases. */
export const usersNamed = (
  users: Collection<UserRow>,
  { tenantId, appId }: OfApp,
  keys: readonly string[],
): Promise<UserRow[]> =>
  inPages(keys, namesAtOnce, (some) =>
    users.find({ app_id: appId, alias_keys: { $in: some }, tenant_id: tenantId }, inOneReply).toArray(),
  );

/** The subscriptions of an app on a channel that have any of these tokens. */
export const subscriptionsNamed = (
  subscriptions: Collection<SubscriptionRow>,
  { tenantId, appId }: OfApp,
  { channel, tokens }: { channel: Channel; tokens: readonly string[] },
): Promise<SubscriptionRow[]> =>
  inPages(tokens, namesAtOnce, (some) =>
    subscriptions.find({ app_id: appId, channel, token: { $in: some }, tenant_id: tenantId }, inOneReply).toArray(),
  );
