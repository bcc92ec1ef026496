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

const page = 500; // names in one query
const appsAtOnce = 16;
const bounds = { ...atMostEntries(50_000), ttl: 30_000 }; // some 10 MB; who is found is looked up again after half a minute

/** What is asked about the people of an app. */
export type AskedOfApp = OfApp & { named: readonly Named[] };

/** Finds the users whom events name. Those who are found are remembered for 30 s; who is not found is asked for again. */
export const eventPeople = (db: Db, clock: Clock) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const known = new LRUCache<string, KnownUser>({ ...bounds, perf: { now: () => clock.now().getTime() } });
  const remember = (appId: string, name: string, { _id, external_id }: Found): void =>
    void known.set(placeOf(appId, name), { userId: _id, externalId: external_id });
  const isUnknown = (appId: string) => (name: string) => !known.has(placeOf(appId, name));

  const readNamed = async (asked: readonly Asked[]): Promise<void> => {
    const found = await inAsked(asked, keyOfName, (apps, keys) =>
      users.find({ ...apps, alias_keys: { $in: keys } }, { projection, hint: "alias" }).toArray(),
    );
    const wanted = new Set(asked.flatMap(({ appId, names }) => names.map((name) => placeOf(appId, name))));
    for (const user of found)
      for (const name of user.alias_keys.map(nameOfKey))
        if (wanted.has(placeOf(user.app_id, name))) remember(user.app_id, name, user);
  };
  const readUsers = async (asked: readonly Asked[]): Promise<void> => {
    const found = await inAsked(asked, String, (apps, ids) =>
      users.find({ ...apps, _id: { $in: ids } }, { projection }).toArray(),
    );
    for (const user of found) remember(user.app_id, user._id, user);
    // They may have been merged into somebody, who has their ids as aliases.
    await readNamed(asked.map(({ names, ...of }) => ({ ...of, names: names.filter(isUnknown(of.appId)) })));
  };
  const readOwners = async (asked: readonly Asked[]): Promise<void> => {
    const found = await inAsked(asked, String, (apps, ids) =>
      subscriptions.find({ ...apps, _id: { $in: ids } }, { projection: owned }).toArray(),
    );
    for (const { _id, app_id, user_id, external_id } of found) remember(app_id, _id, { _id: user_id, external_id });
  };

  return {
    /** Finds those who are not remembered, of several apps in one query for each way of naming them. */
    load: async (all: readonly AskedOfApp[]): Promise<void> => {
      const missing = all.map(({ named, ...of }) => {
        const names = new Set(named.map(nameOf).filter((name) => name !== null));
        return { of, kinds: Object.groupBy([...names].filter(isUnknown(of.appId)), kindOf) };
      });
      const ofKind = (kind: ReturnType<typeof kindOf>): Asked[] =>
        missing.map(({ of, kinds }) => ({ ...of, names: kinds[kind] ?? [] }));
      await Promise.all([readNamed(ofKind("external")), readUsers(ofKind("user")), readOwners(ofKind("subscription"))]);
    },

    /** Who is meant; null when nobody is known. */
    find: (appId: string, named: Named): KnownUser | null => {
      const name = nameOf(named);
      return name === null ? null : (known.get(placeOf(appId, name)) ?? null);
    },
  };
};

type Found = Pick<UserRow, "_id" | "external_id">;
const projection = { tenant_id: 1, app_id: 1, external_id: 1, alias_keys: 1 } as const;
const owned = { tenant_id: 1, app_id: 1, external_id: 1, user_id: 1 } as const;

const placeOf = (appId: string, name: string): string => `${appId} ${name}`;

/** Names of people of an app, as one of the members of a document has them. */
type Asked = OfApp & { names: readonly string[] };

/**
 * Reads what is asked of all apps, some apps and names at a time. MongoDB looks for each of the names in each of the apps: so
 * what is found of an app may be more than was asked. `$or` would keep them apart, but FerretDB serves it by no index.
 */
const inAsked = async <Row extends { tenant_id: string; app_id: string }>(
  asked: readonly Asked[],
  valueOf: (name: string) => string,
  read: (apps: { app_id: { $in: string[] }; tenant_id: { $in: string[] } }, values: string[]) => Promise<Row[]>,
): Promise<Row[]> => {
  const tenants = new Map(asked.map(({ appId, tenantId }) => [appId, tenantId]));
  const found = await inPages(
    asked.filter(({ names }) => names.length > 0),
    appsAtOnce,
    (some) =>
      inPages([...new Set(some.flatMap(({ names }) => names))], page, (names) =>
        read(
          {
            app_id: { $in: some.map(({ appId }) => appId) },
            tenant_id: { $in: [...new Set(some.map(({ tenantId }) => tenantId))] },
          },
          names.map(valueOf),
        ),
      ),
  );
  return found.filter(({ app_id, tenant_id }) => tenants.get(app_id) === tenant_id);
};

const nameOf = ({ user_id: user, external_id: external, subscription_id: subscription }: Named): string | null => {
  if (external !== null) return aliasKey("external_id", external);
  return user ?? subscription;
};

/** Our own id is named as it is. */
const nameOfKey = (key: string): string => (key.startsWith("user_id:") ? key.slice("user_id:".length) : key);
const keyOfName = (name: string): string => (kindOf(name) === "external" ? name : aliasKey("user_id", name));

const kindOf = (name: string): "external" | "user" | "subscription" => {
  if (name.startsWith("external_id:")) return "external";
  return name.startsWith("sub_") ? "subscription" : "user";
};
