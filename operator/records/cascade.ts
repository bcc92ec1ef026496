import { apps } from "#core/storage/apps/apps.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { appRemoval, removals } from "#core/storage/work/removals.ts";
import type { Kind } from "./kind.ts";
import type { Base, Cascade } from "./platform.ts";

/**
 * Removes the records of kinds that go with their owner. No epoch protects these deletions, so the fence is asked
 * before every write.
 */
export const cascade = (
  platform: Base,
  kinds: readonly Pick<Kind, "collection" | "owner" | "goesWithOwner">[],
): Cascade => {
  const { db, fence, clock } = platform;
  const owned = kinds.flatMap(({ goesWithOwner, ...kind }) =>
    goesWithOwner ? remover(platform, kind, goesWithOwner) : [],
  );
  const removeOwned = async (owner: "tenant" | "app", id: string): Promise<void> => {
    for (const { remove } of owned.filter((one) => one.owner === owner)) await remove(id);
  };
  return {
    ofTenant: (tenantId) => removeOwned("tenant", tenantId),
    /** Dispatchers remove the app's people, messages and history: they work through the removal that is begun here. */
    ofApp: async (appId) => {
      await removeOwned("app", appId);
      const app = await apps(db).find(appId);
      if (app === null) return;
      fence.check();
      await removals(db).begin(appRemoval(app, clock.now()));
    },
  };
};

const pageSize = 500;

/** Removes the records of one kind that an owner has, by pages. */
const remover = (
  platform: Base,
  { collection, owner }: Pick<Kind, "collection" | "owner">,
  { index, ...around }: NonNullable<Kind["goesWithOwner"]>,
) => {
  const { db, fence, announce } = platform;
  const rows = collectionOf<{ _id: string }>(db, collection);
  const before = around.before?.(platform);
  const after = around.after?.(platform);
  const remove = async (ownerId: string): Promise<void> => {
    const isOwned = { [`${owner}_id`]: ownerId };
    for (;;) {
      const page = await rows
        .find(isOwned, { projection: { _id: 1 }, hint: index })
        .limit(pageSize)
        .toArray();
      const ids = page.map(({ _id }) => _id);
      if (ids.length === 0) return;
      await before?.(ids);
      fence.check();
      await rows.deleteMany({ ...isOwned, _id: { $in: ids } });
      for (const id of ids) announce(collection.name, id, owner === "app" ? ownerId : undefined);
      if (after !== undefined) await Promise.all(ids.map(after)); // of one page
    }
  };
  return { owner, remove };
};
