import type { Collection, Db, UpdateFilter } from "mongodb";
import type { DeviceSession } from "../../domain/people/device-sessions.ts";
import type { OutboxEvent } from "../../schema/events/envelope.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { insertNew, oneWriter, unlessTaken } from "../mongo/duplicate.ts";
import { changeIndex } from "../warehouse/change-index.ts";
import { type DueWork, dueIndex } from "../work/due.ts";

/**
 * A person of an app. `alias_keys` has `label:id` of every alias, `external_id` included: unique within the app.
 * `due_at` is when its events are to be published, should nobody have done so.
 */
export type UserRow = DueWork & {
  _id: string;
  tenant_id: string;
  app_id: string;
  external_id: string | null;
  aliases: Record<string, string>;
  alias_keys: string[];
  tags: Record<string, string>;
  properties: Record<string, unknown>;
  language: string | null;
  time_zone: string | null;
  country: string | null;
  first_seen_at: Date;
  last_active_at: Date;
  created_at: Date;
  updated_at: Date;
  /** Events that may not have been published yet. */
  outbox: OutboxEvent[];
  /** What has changed since the last `user.updated`, e.g. `tags.plan`: the next one names all of it. */
  changed: string[];
  /** Grows with every change: its event is named by it. */
  revision: number;
  /** Keys that lead to them since users were merged into them, such as `user_id:usr_…`; also in `alias_keys`. */
  merged_keys?: string[];
  /** Sessions that an import knew of, or their devices told; absent until one did. */
  session_count?: number;
  /** The last ones that their devices told: of which subscription, when it began, how many seconds of it are counted. */
  sessions?: DeviceSession[];
  /** What the app's server has said of them; absent until it did. `session_time` in seconds, `amount_spent` in its own unit. */
  session_time?: number | null;
  amount_spent?: number | null;
  location?: { lat: number; long: number } | null;
  /**
   * They were made for an address, whose subscription is stored after them. What a kill leaves without one is removed:
   * until then their `user.created` is not published. Means nothing once it was.
   */
  of_contact?: true;
  /** What the last import with rows about them has done to them. */
  imported?: ImportedMark;
  /** Ids of the segments of kind `list` that they were put on; absent until they were. */
  lists?: string[];
};

/**
 * An import takes its file in batches, each of which may be taken again after a kill. `first`, `last`: the first and last
 * batch with rows about the user; `sessions`: the sum of theirs; `isMade`: it made the user.
 */
export type ImportedMark = { by: string; first: number; last: number; sessions: number; isMade: boolean };

export const aliasKey = (label: string, id: string): string => `${label}:${id}`;

export const userCollection: CollectionSpec = {
  name: "users",
  indexes: [
    { key: { app_id: 1, alias_keys: 1 }, name: "alias", unique: true },
    { key: { app_id: 1, _id: 1 }, name: "app" },
    { key: { app_id: 1, lists: 1 }, name: "lists", partialFilterExpression: { lists: { $exists: true } } },
    changeIndex, // for warehouse exports: docs/decisions/0126
    dueIndex,
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "app" },
  erasure: { member: "_id" },
  retention: { kept: "until they are deleted" },
};

export type Users = ReturnType<typeof users>;

/** The change of a user as it is now. It raises the revision with whatever it changes. */
export type ChangeOfUser = (user: UserRow) => UpdateFilter<UserRow>;

export const users = (db: Db) => {
  const rows = collectionOf<UserRow>(db, userCollection);
  const alone = oneWriter();
  return {
    /** The user that has an alias; label `user_id` is our own id, or that of a user who was merged into them. */
    find: async ({ tenantId, appId }: OfApp, label: string, id: string): Promise<UserRow | null> => {
      if (label.includes(":")) return null; // no label has one: what follows it would be taken for the beginning of an id
      const of = { app_id: appId, tenant_id: tenantId };
      const own = label === "user_id" ? await rows.findOne({ ...of, _id: id }) : null;
      return own ?? rows.findOne({ ...of, alias_keys: aliasKey(label, id) });
    },

    /** The users that have any of these aliases. */
    findAll: ({ tenantId, appId }: OfApp, keys: readonly string[]): Promise<UserRow[]> =>
      rows.find({ app_id: appId, alias_keys: { $in: [...keys] }, tenant_id: tenantId }).toArray(),

    /** False when one of its aliases is taken. */
    insert: (row: UserRow): Promise<boolean> =>
      alone(`${row.app_id} ${row.alias_keys[0] ?? row._id}`, () => insertNew(rows, row)),

    /**
     * Changes a user whose aliases are still the ones that were read; null when they are not, or one is taken. `change`
     * is asked again when something else of the user is not as it was read.
     */
    update: (tenantId: string, read: UserRow, change: ChangeOfUser): Promise<UserRow | null> =>
      alone(read._id, () => unlessTaken(() => update(rows, tenantId, read, change), null)),

    /** False when the user is gone, or no longer as it was `read`. */
    remove: async (tenantId: string, id: string, read: Partial<Pick<UserRow, "revision">> = {}): Promise<boolean> =>
      (await rows.deleteOne({ ...read, _id: id, tenant_id: tenantId })).deletedCount === 1,

    /**
     * Forgets the changes that were published, of users that have not changed since. Those of one revision are one statement,
     * which costs the store two thirds of one for each.
     */
    forgetChanges: async (published: readonly Pick<UserRow, "_id" | "revision">[]): Promise<void> => {
      const byRevision = [...Map.groupBy(published, ({ revision }) => revision)];
      const writes = byRevision.map(([revision, of]) => {
        const filter = { _id: { $in: of.map(({ _id }) => _id) }, revision };
        return { updateMany: { filter, update: { $set: { changed: [], due_at: null } } } };
      });
      await rows.bulkWrite(writes, { ordered: false });
    },
  };
};

/** Reads the languages of those of at most 500 users (a chunk's) who have one, by their ids. */
export const languages =
  (db: Db) =>
  async (userIds: readonly string[]): Promise<Map<string, string>> => {
    const users = collectionOf<UserRow>(db, userCollection);
    const options = { projection: { language: 1 }, batchSize: userIds.length + 1 };
    const found = await users.find({ _id: { $in: [...userIds] } }, options).toArray();
    return new Map(found.flatMap(({ _id, language }) => (language === null ? [] : [[_id, language]])));
  };

const attempts = 5; // each lost to another process: those of one wait for each other

const update = async (
  rows: Collection<UserRow>,
  tenantId: string,
  read: UserRow,
  change: ChangeOfUser,
): Promise<UserRow | null> => {
  const same = { _id: read._id, tenant_id: tenantId, alias_keys: read.alias_keys };
  let user: UserRow | null = read;
  for (let attempt = 0; user !== null && attempt < attempts; attempt++) {
    const filter = { ...same, revision: user.revision };
    const changed = await rows.findOneAndUpdate(filter, change(user), { returnDocument: "after" });
    if (changed !== null) return changed;
    user = await rows.findOne(same);
  }
  return null;
};
