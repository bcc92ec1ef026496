import { contactKey } from "../../channels/addresses.ts";
import { userDeleted } from "../../domain/people/events.ts";
import { isContact } from "../../schema/vocabulary/channels.ts";
import { type RemovalRow, removal } from "../work/removals.ts";
import type { SubscriptionRow } from "./subscription-row.ts";
import type { UserRow } from "./users.ts";

/** Of a user with their subscriptions; `isErased`: what was sent to them names them no longer, either. */
export const userRemoval = (
  user: UserRow,
  owned: readonly SubscriptionRow[],
  now: Date,
  isErased = false,
): RemovalRow => ({
  ...removal(user, now),
  kind: "user",
  ...(isErased && { is_erased: true }),
  keys: keysOfPerson(user, owned),
  outbox: [...user.outbox, ...owned.flatMap((row) => row.outbox), userDeleted(user, now)],
});

/** By what documents about a person are found: our ids, those of the app, and addresses. */
export const keysOfPerson = (user: UserRow, owned: readonly SubscriptionRow[]): string[] => [
  user._id,
  ...mergedIdsOf(user),
  ...user.alias_keys,
  ...owned.flatMap(keysOf),
];

/** Of those who were merged into the user, of whom what was stored before names them still. */
export const mergedRemovals = (user: UserRow, { keys, removed_at: now, is_erased }: RemovalRow): RemovalRow[] =>
  mergedIdsOf(user).map((id) => ({
    ...removal({ ...user, _id: id }, now),
    kind: "user",
    ...(is_erased && { is_erased }),
    keys,
    outbox: [],
  }));

/** Our ids of the users who were merged into one. */
export const mergedIdsOf = ({ merged_keys = [] }: Pick<UserRow, "merged_keys">): string[] =>
  merged_keys.filter((key) => key.startsWith(ownLabel)).map((key) => key.slice(ownLabel.length));

const ownLabel = "user_id:";

/** Of a subscription whose events may not have been published. */
export const subscriptionRemoval = (row: SubscriptionRow, now: Date): RemovalRow => ({
  ...removal(row, now),
  kind: "subscription",
  keys: [],
  outbox: row.outbox,
});

/** How a message's target may name a subscription. */
const keysOf = ({ _id, channel, token }: SubscriptionRow): string[] =>
  isContact(channel) ? [_id, contactKey(channel, token)] : [_id];
