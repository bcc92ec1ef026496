import type { Db } from "mongodb";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { findIds, inPages, type OnPage } from "../mongo/pages.ts";
import { aliasKey, type UserRow, userCollection } from "../people/users.ts";

export type Lists = ReturnType<typeof segmentLists>;

/** Somebody of an app, by an alias or by our own id. */
type Ref = { label: string; id: string };

const pageUsers = 500; // in one $in: keeps each query's plan an index probe

/** Who is on the lists of segments: that stands with each user, by the ids of the lists. */
export const segmentLists = (db: Db) => {
  const rows = collectionOf<UserRow>(db, userCollection);
  return {
    /** Ids of the users that these are, by their keys. */
    find: async ({ tenantId, appId }: OfApp, refs: readonly Ref[]): Promise<ReadonlyMap<string, string>> => {
      const of = { app_id: appId, tenant_id: tenantId };
      const ids = refs.filter(isOwnId).map(({ id }) => id);
      const keys = refs.map(({ label, id }) => aliasKey(label, id)); // own ids too: those of merged users lead to another
      const [own, aliased] = await Promise.all([
        inPages(ids, pageUsers, (page) => findIds(rows, { ...of, _id: { $in: page } })),
        inPages(keys, pageUsers, (page) =>
          rows
            .find({ ...of, alias_keys: { $in: page } }, { projection: { alias_keys: 1 }, batchSize: page.length + 1 })
            .toArray(),
        ),
      ]);
      return new Map([
        ...own.map((id): [string, string] => [aliasKey("user_id", id), id]),
        ...aliased.flatMap(({ _id, alias_keys: all }) => all.map((key): [string, string] => [key, _id])),
      ]);
    },

    /** Puts users on a list; how many were not on it. */
    add: (of: OfApp, listId: string, userIds: readonly string[]): Promise<number> =>
      changed(userIds, (page) =>
        rows.updateMany({ ...chosen(of, page), lists: { $ne: listId } }, { $addToSet: { lists: listId } }),
      ),

    /** Takes users from a list; how many were on it. */
    remove: (of: OfApp, listId: string, userIds: readonly string[]): Promise<number> =>
      changed(userIds, (page) => rows.updateMany({ ...chosen(of, page), lists: listId }, { $pull: { lists: listId } })),

    /** Takes everybody from a list that is gone. @throws what `onPage` throws */
    empty: async (appId: string, listId: string, onPage?: OnPage): Promise<void> => {
      const next = () => findIds(rows, { app_id: appId, lists: listId }, { hint: "lists", limit: pageUsers });
      for (let ids = await next(); ids.length > 0; ids = await next()) {
        await rows.updateMany({ _id: { $in: ids }, app_id: appId }, { $pull: { lists: listId } });
        onPage?.(ids.length);
      }
    },
  };
};

const isOwnId = ({ label }: Ref): boolean => label === "user_id";

const chosen = ({ tenantId, appId }: OfApp, ids: string[]) => ({
  _id: { $in: ids },
  app_id: appId,
  tenant_id: tenantId,
});

const changed = async (
  userIds: readonly string[],
  change: (page: string[]) => Promise<{ modifiedCount: number }>,
): Promise<number> => {
  const counts = await inPages(userIds, pageUsers, async (page) => [(await change(page)).modifiedCount]);
  return counts.reduce((sum, count) => sum + count, 0);
};
