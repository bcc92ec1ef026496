import { maskAddress } from "../../channels/addresses.ts";
import { timeOf } from "../../domain/clock.ts";
import type { Subscription } from "../../schema/people/subscription.ts";
import type { User } from "../../schema/people/user.ts";
import type { SubscriptionRow } from "./subscription-row.ts";
import type { UserRow } from "./users.ts";

/** A subscription as the REST interface shows it: its token masked. */
export const subscriptionView = (row: SubscriptionRow): Subscription => ({
  id: row._id,
  app_id: row.app_id,
  user_id: row.user_id,
  external_id: row.external_id,
  channel: row.channel,
  token_masked: maskAddress(row.channel, row.token),
  status: row.status,
  status_reason: row.status_reason,
  language: row.language,
  test_device: row.test_device,
  device: row.device,
  last_active_at: row.last_active_at.toISOString(),
  unsubscribed_at: timeOf(row.unsubscribed_at),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** A user as the REST interface shows it, with the subscriptions. */
export const userView = (row: UserRow, subscriptions: readonly SubscriptionRow[]): User => ({
  id: row._id,
  app_id: row.app_id,
  external_id: row.external_id,
  aliases: row.aliases,
  tags: row.tags,
  properties: row.properties,
  language: row.language,
  timezone: row.time_zone,
  country: row.country,
  subscriptions: subscriptions.map(subscriptionView),
  first_seen_at: row.first_seen_at.toISOString(),
  last_active_at: row.last_active_at.toISOString(),
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
