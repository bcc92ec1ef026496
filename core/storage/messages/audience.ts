import type { Db } from "mongodb";
import { contactsOf } from "../../channels/contacts.ts";
import type { Chosen } from "../../domain/segments/aim.ts";
import type { Target } from "../../schema/messages/notification.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { collectionOf } from "../mongo/collection.ts";
import { findIds, inPages } from "../mongo/pages.ts";
import { type AppStretch, type Stretch, stretchFilter } from "../people/subscription-counts.ts";
import { type SubscriptionRow, subscriptionCollection } from "../people/subscription-row.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";

const lookupPage = 500; // ids in one $in: keeps each query's plan an index probe

/** Reads who a message goes to. Always by an index: pages of ids in order, or probes of explicit ids. */
export const audience = (db: Db) => {
  const subscriptions = collectionOf<SubscriptionRow>(db, subscriptionCollection);
  const users = collectionOf<UserRow>(db, userCollection);

  const userIdsOf = async (appId: string, keys: readonly string[]): Promise<string[]> =>
    inPages(keys, lookupPage, (page) => findIds(users, { app_id: appId, alias_keys: { $in: page } }));

  const eligible = async (filter: object, wanted: AudienceScope): Promise<Reached[]> =>
    subscriptions
      .find({ app_id: wanted.appId, ...filter }, { projection: reachedMembers })
      .toArray()
      .then((rows) => rows.filter((row) => isWanted(row, wanted)));

  return {
    /** The users and subscriptions that explicit ids name, whatever channel they are on. Bounded as `resolve` is. */
    chosen: async ({ include_subscription_ids: ids = [], ...target }: Target, appId: string): Promise<Chosen> => ({
      subscriptionIds: new Set([
        ...ids,
        ...(await ofContacts(target, (filter) => findIds(subscriptions, { app_id: appId, ...filter }))),
      ]),
      userIds: new Set([
        ...(await userIdsOf(appId, aliasKeysOf(target))),
        ...(target.include_aliases?.["user_id"] ?? []),
      ]),
    }),

    /** What sending needs of these subscriptions, in the order of their ids. */
    load: (ids: readonly string[]): Promise<Reached[]> =>
      subscriptions
        .find({ _id: { $in: [...ids] } }, { projection: reachedMembers, batchSize: ids.length + 1 })
        .sort({ _id: 1 })
        .toArray(),

    /** One page of subscription ids of a stretch of the app, behind `after`. */
    page: ({ after, limit, ...of }: AppStretch & { after: string; limit: number }): Promise<string[]> =>
      findIds(subscriptions, stretchFilter(of, after), { sort: { _id: 1 }, limit }),

    /** Everyone that explicit ids reach, each once, by channel, ids ascending. Bounded by the bounds of the target. */
    resolve: async (target: Target, wanted: AudienceScope): Promise<Map<Channel, Reached[]>> => {
      const users = await userIdsOf(wanted.appId, aliasKeysOf(target));
      const byUser = await inPages([...users, ...(target.include_aliases?.["user_id"] ?? [])], lookupPage, (page) =>
        eligible({ user_id: { $in: page } }, wanted),
      );
      const byId = await inPages(target.include_subscription_ids ?? [], lookupPage, (page) =>
        eligible({ _id: { $in: page } }, wanted),
      );
      const byContact = await ofContacts(target, (filter) => eligible(filter, wanted));
      return grouped([...byUser, ...byId, ...byContact]);
    },
  };
};

/** What `read` finds of the addresses that a target names itself. */
const ofContacts = async <T>(target: Target, read: (filter: AtContacts) => Promise<readonly T[]>): Promise<T[]> => {
  const found: T[] = [];
  for (const [channel, contacts] of Map.groupBy(contactsOf(target), ({ channel }) => channel)) {
    const tokens = contacts.map(({ token }) => token);
    found.push(...(await inPages(tokens, lookupPage, (page) => read({ channel, token: { $in: page } }))));
  }
  return found;
};

type AtContacts = { channel: Channel; token: { $in: string[] } };

/** What sending needs of a subscription. */
export type Reached = Pick<
  SubscriptionRow,
  | "_id"
  | "user_id"
  | "external_id"
  | "channel"
  | "token"
  | "web"
  | "status"
  | "language"
  | "test_device"
  | "session_expires_at"
> & {
  /** Only its time zone is read. */
  device?: SubscriptionRow["device"];
};

const reachedMembers = {
  user_id: 1,
  external_id: 1,
  channel: 1,
  token: 1,
  web: 1,
  status: 1,
  language: 1,
  test_device: 1,
  session_expires_at: 1,
  "device.timezone": 1,
} as const satisfies Record<Exclude<keyof Reached, "_id" | "device"> | "device.timezone", 1>;

/** What makes a subscription part of an audience: its channel in a status that may be reached. */
export type AudienceScope = { appId: string; stretches: readonly Stretch[]; testOnly: boolean };

const isWanted = (row: Reached, { stretches, testOnly }: AudienceScope): boolean =>
  (!testOnly || row.test_device) &&
  stretches.some((stretch) => stretch.channel === row.channel && stretch.status === row.status);

/** The aliases by which a target names people, but for `user_id`. */
export const aliasKeysOf = ({ include_external_ids = [], include_aliases = {} }: Target): string[] => {
  const aliases = Object.entries(include_aliases).filter(([label]) => label !== "user_id");
  return [
    ...include_external_ids.map((id) => aliasKey("external_id", id)),
    ...aliases.flatMap(([label, ids]) => ids.map((id) => aliasKey(label, id))),
  ];
};

const grouped = (rows: readonly Reached[]): Map<Channel, Reached[]> => {
  const once = [...new Map(rows.map((row) => [row._id, row])).values()].sort((a, b) => (a._id < b._id ? -1 : 1));
  return Map.groupBy(once, ({ channel }) => channel);
};
