import { LRUCache } from "lru-cache";
import type { Db } from "mongodb";
import { atMostEntries } from "../../domain/at-most-entries.ts";
import type { Clock } from "../../domain/clock.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";

/** A user of ours, and the id that the app knows them by. */
export type KnownUser = { userId: string; externalId: string | null };

/** What an event says of whom it is about. */
export type Named = { user_id: string | null; external_id: string | null; subscription_id: string | null };

export type EventPeople = ReturnType<typeof eventPeople>;

const page = 500; // ids in one $in
const bounds = { ...atMostEntries(50_000), ttl: 30_000 }; // some 10 MB; who is found is looked up again after half a minute

/** Finds the users whom events name. Those who are found are remembered for 30 s; who is not found is asked for again. */
export const eventPeople = (db: Db, clock: Clock) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const known = new LRUCache<string, KnownUser>({ ...bounds, perf: { now: () => clock.now().getTime() } });
  const remember = (appId: string, name: string, { _id, external_id }: Found): void =>
    void known.set(`${appId} ${name}`, { userId: _id, externalId: external_id });

  const readNamed = async ({ tenantId, appId }: OfApp, names: readonly string[]): Promise<void> => {
    const found = await inPages(names, page, (some) =>
      users.find({ app_id: appId, alias_keys: { $in: some }, tenant_id: tenantId }, { projection }).toArray(),
    );
    const asked = new Set(names);
    for (const user of found)
      for (const key of user.alias_keys) if (asked.has(key)) remember(appId, nameOfKey(key), user);
  };
  const readUsers = async ({ tenantId, appId }: OfApp, ids: readonly string[]): Promise<void> => {
    const found = await inPages(ids, page, (some) =>
      users.find({ _id: { $in: some }, app_id: appId, tenant_id: tenantId }, { projection }).toArray(),
    );
    for (const user of found) remember(appId, user._id, user);
    const there = new Set(found.map(({ _id }) => _id));
    const others = ids.filter((id) => !there.has(id)); // they may have been merged into somebody
    await readNamed(
      { tenantId, appId },
      others.map((id) => aliasKey("user_id", id)),
    );
  };
  const readOwners = async ({ tenantId, appId }: OfApp, ids: readonly string[]): Promise<void> => {
    const owned = { user_id: 1, external_id: 1 } as const;
    const found = await inPages(ids, page, (some) =>
      subscriptions.find({ _id: { $in: some }, app_id: appId, tenant_id: tenantId }, { projection: owned }).toArray(),
    );
    for (const { _id, user_id, external_id } of found) remember(appId, _id, { _id: user_id, external_id });
  };

  return {
    /** Finds those who are not remembered, in one query for each way of naming them. */
    load: async (of: OfApp, all: readonly Named[]): Promise<void> => {
      const names = new Set(all.map(nameOf).filter((name) => name !== null));
      const missing = [...names].filter((name) => !known.has(`${of.appId} ${name}`));
      const { external = [], user = [], subscription = [] } = Object.groupBy(missing, kindOf);
      await Promise.all([readNamed(of, external), readUsers(of, user), readOwners(of, subscription)]);
    },

    /** Who is meant; null when nobody is known. */
    find: (appId: string, named: Named): KnownUser | null => {
      const name = nameOf(named);
      return name === null ? null : (known.get(`${appId} ${name}`) ?? null);
    },
  };
};

type Found = Pick<UserRow, "_id" | "external_id">;
const projection = { external_id: 1, alias_keys: 1 } as const;

const nameOf = ({ user_id: user, external_id: external, subscription_id: subscription }: Named): string | null => {
  if (external !== null) return aliasKey("external_id", external);
  return user ?? subscription;
};

/** Our own id is named as it is. */
const nameOfKey = (key: string): string => (key.startsWith("user_id:") ? key.slice("user_id:".length) : key);

const kindOf = (name: string): "external" | "user" | "subscription" => {
  if (name.startsWith("external_id:")) return "external";
  return name.startsWith("sub_") ? "subscription" : "user";
};
