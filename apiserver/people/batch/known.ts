import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { ManyPeople } from "#core/storage/people/many.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { UserRow } from "#core/storage/people/users.ts";
import { addressKey, type Item } from "./item.ts";

export type KnownDeps = { many: Pick<ManyPeople, "usersOf" | "subscriptionsAt"> };

/** What the app has of what a batch names. */
export type Known = {
  /** By each of their ids. */
  users: ReadonlyMap<string, UserRow>;
  /** By {@link addressKey}. */
  subscriptions: ReadonlyMap<string, SubscriptionRow>;
};

export const knownOf = async ({ many }: KnownDeps, app: AppRow, items: readonly Item[]): Promise<Known> => {
  const of = ofApp(app);
  const keys = new Set(items.flatMap((item) => item.keys));
  const byChannel = Map.groupBy(
    items.flatMap(({ addressed }) => addressed),
    ({ channel }) => channel,
  );
  const [users, ...subscriptions] = await Promise.all([
    many.usersOf(of, [...keys]),
    ...[...byChannel].map(([channel, addressed]) =>
      many.subscriptionsAt(of, channel, [...new Set(addressed.map(({ token }) => token))]),
    ),
  ]);
  return {
    users: new Map(users.flatMap((user) => user.alias_keys.map((key) => [key, user]))),
    subscriptions: new Map(subscriptions.flat().map((row) => [addressKey(row), row])),
  };
};
