import { maskAddress } from "../../channels/addresses.ts";
import { showAs } from "../../schema/json/show.ts";
import { Identity } from "../../schema/people/identity.ts";
import { Subscription } from "../../schema/people/subscription.ts";
import { User } from "../../schema/people/user.ts";
import type { SubscriptionRow } from "./subscription-row.ts";
import type { UserRow } from "./users.ts";

/** A subscription as the REST interface shows it: its token masked. */
export const subscriptionView = (row: SubscriptionRow): Subscription =>
  showAs(Subscription, { ...row, id: row._id, token_masked: maskAddress(row.channel, row.token) });

/** A user as the REST interface shows it, with the subscriptions. */
export const userView = (row: UserRow, owned: readonly SubscriptionRow[]): User =>
  showAs(User, { ...row, id: row._id, timezone: row.time_zone, subscriptions: owned.map(subscriptionView) });

/** The ids of a user as the REST interface shows them. */
export const identityView = (row: UserRow): Identity => showAs(Identity, { ...row, user_id: row._id });
