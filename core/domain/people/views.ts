import { maskAddress } from "../../channels/addresses.ts";
import { type DocumentOf, showAs } from "../../schema/json/show.ts";
import { Identity } from "../../schema/people/identity.ts";
import { Subscription } from "../../schema/people/subscription.ts";
import { User } from "../../schema/people/user.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";

/** What a subscription's view is made of. */
export type ViewedSubscription = Omit<DocumentOf<typeof Subscription>, "id" | "token_masked"> & {
  _id: string;
  channel: Channel;
  token: string;
};

/** What a user's view is made of. */
export type ViewedUser = Omit<DocumentOf<typeof User>, "id" | "timezone" | "subscriptions"> & {
  _id: string;
  time_zone: string | null;
};

/** A subscription as the REST interface shows it: its token masked. */
export const subscriptionView = (row: ViewedSubscription): Subscription =>
  showAs(Subscription, { ...row, id: row._id, token_masked: maskAddress(row.channel, row.token) });

/** A user as the REST interface shows it, with the subscriptions. */
export const userView = (row: ViewedUser, owned: readonly ViewedSubscription[]): User =>
  showAs(User, { ...row, id: row._id, timezone: row.time_zone, subscriptions: owned.map(subscriptionView) });

/** The ids of a user as the REST interface shows them. */
export const identityView = (row: Omit<DocumentOf<typeof Identity>, "user_id"> & { _id: string }): Identity =>
  showAs(Identity, { ...row, user_id: row._id });
