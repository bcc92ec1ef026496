import type { OfApp } from "../mongo/collection.ts";
import { noWork } from "../work/due.ts";
import type { SubscriptionRow } from "./subscription-row.ts";
import type { UserRow } from "./users.ts";

/** A user of whom nothing is known yet; without the keys of {@link UserRow.alias_keys}. */
export const blankUser = (id: string, { tenantId, appId }: OfApp, now: Date): UserRow => ({
  _id: id,
  tenant_id: tenantId,
  app_id: appId,
  external_id: null,
  aliases: {},
  alias_keys: [],
  tags: {},
  properties: {},
  language: null,
  time_zone: null,
  country: null,
  first_seen_at: now,
  last_active_at: now,
  created_at: now,
  updated_at: now,
  ...noWork,
  outbox: [],
  changed: [],
  revision: 0,
});

/** Whose subscription, and where it leads. */
export type Made = { user: Pick<UserRow, "_id" | "tenant_id" | "app_id" | "external_id"> } & Pick<
  SubscriptionRow,
  "channel" | "token" | "web"
>;

/** A subscription that is subscribed as of now. */
export const blankSubscription = (id: string, { user, channel, token, web }: Made, now: Date): SubscriptionRow => ({
  _id: id,
  tenant_id: user.tenant_id,
  app_id: user.app_id,
  user_id: user._id,
  external_id: user.external_id,
  channel,
  token,
  web,
  status: "subscribed",
  status_reason: null,
  language: null,
  test_device: false,
  device: {},
  last_active_at: now,
  unsubscribed_at: null,
  created_at: now,
  updated_at: now,
  ...noWork,
  outbox: [],
});
