import type { Db } from "mongodb";
import { gather } from "../../runtime/batching/gather.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { inPages } from "../mongo/pages.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";

export type Targets = ReturnType<typeof targets>;

/** What decides whether a message reaches a subscription. */
export type Probed = Pick<
  SubscriptionRow,
  "_id" | "user_id" | "channel" | "status" | "test_device" | "token" | "external_id"
>;
export type Aliased = Pick<UserRow, "_id" | "alias_keys">;

const aliased = { alias_keys: 1 };
const probed = { user_id: 1, channel: 1, status: 1, test_device: 1, token: 1, external_id: 1 };

/** Looks up whom a target means, for counting; the dispatcher reads the audience itself (audience.ts). */
export const targets = (db: Db) => {
  const users = collectionOf<UserRow>(db, userCollection);
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  return {
    /** Users that have any of these aliases, with all the aliases they have. */
    byAlias: lookup<Aliased>({
      read: ({ tenantId, appId }, keys) =>
        users
          .find({ app_id: appId, alias_keys: { $in: keys }, tenant_id: tenantId }, { projection: aliased })
          .toArray(),
      keysOf: ({ alias_keys: keys }) => keys,
    }),

    /** Users by our own ids. */
    byId: lookup<Aliased>({
      read: ({ tenantId, appId }, keys) =>
        users.find({ _id: { $in: keys }, app_id: appId, tenant_id: tenantId }, { projection: aliased }).toArray(),
      keysOf: ({ _id }) => [_id],
    }),

    /** Subscriptions by their own ids. */
    probe: lookup<Probed>({
      read: ({ tenantId, appId }, keys) =>
        subscriptions
          .find({ _id: { $in: keys }, app_id: appId, tenant_id: tenantId }, { projection: probed })
          .toArray(),
      keysOf: ({ _id }) => [_id],
    }),

    /** Subscriptions of these users. */
    probeUsers: lookup<Probed>({
      read: ({ tenantId, appId }, keys) =>
        subscriptions
          .find({ app_id: appId, user_id: { $in: keys }, tenant_id: tenantId }, { projection: probed })
          .toArray(),
      keysOf: ({ user_id: userId }) => [userId],
    }),

    /** Whether any user of the app has an alias of this label. */
    isLabelKnown: async ({ tenantId, appId }: OfApp, label: string): Promise<boolean> => {
      const prefix = new RegExp(`^${aliasKey(label, "")}`); // a label has no character that means something here
      const filter = { app_id: appId, alias_keys: prefix, tenant_id: tenantId };
      return (await users.findOne(filter, { projection: { _id: 1 } })) !== null;
    },
  };
};

type Lookup<Row> = {
  read: (of: OfApp, keys: string[]) => Promise<Row[]>;
  /** The keys that a row is found by. */
  keysOf: (row: Row) => readonly string[];
};

const pageKeys = 500; // in one $in: keeps each query's plan an index probe
const smallKeys = 50; // larger lookups share nothing, so that nobody waits for them

/** Reads rows by keys; small lookups of one app that come at the same time share a query. */
const lookup = <Row>({ read, keysOf }: Lookup<Row>): ((of: OfApp, keys: readonly string[]) => Promise<Row[]>) => {
  const share = gather({
    write: (wanted: readonly KeyLookup[]) => readShared({ read, keysOf }, wanted),
    most: 50,
    inFlight: 1,
    isOfTurn: true,
  });
  return async (of, keys) => {
    if (keys.length === 0) return [];
    return keys.length > smallKeys ? byPages(of, keys, read) : share({ of, keys: new Set(keys) });
  };
};

type KeyLookup = { of: OfApp; keys: ReadonlySet<string> };

/** One query for each app; each caller gets the rows of its own keys. */
const readShared = async <Row>({ read, keysOf }: Lookup<Row>, wanted: readonly KeyLookup[]): Promise<Row[][]> => {
  const groups = Map.groupBy(wanted, ({ of }) => `${of.tenantId}/${of.appId}`);
  const found = new Map<KeyLookup, Row[]>();
  await Promise.all(
    [...groups.values()].map(async (group) => {
      const [{ of }] = group as [KeyLookup]; // sound: a group has a first
      const rows = await byPages(of, [...new Set(group.flatMap(({ keys }) => [...keys]))], read);
      for (const one of group)
        found.set(
          one,
          rows.filter((row) => keysOf(row).some((key) => one.keys.has(key))),
        );
    }),
  );
  return wanted.map((one) => found.get(one) ?? []);
};

const byPages = <Row>(of: OfApp, keys: readonly string[], read: Lookup<Row>["read"]): Promise<Row[]> =>
  inPages(keys, pageKeys, (page) => read(of, page));
