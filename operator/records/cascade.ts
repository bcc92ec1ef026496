import { apps } from "#core/storage/apps/apps.ts";
import { appRemoval } from "#core/storage/apps/removal.ts";
import { collectionOf } from "#core/storage/mongo/collection.ts";
import { removals } from "#core/storage/work/removals.ts";
import type { Kind } from "./kind.ts";
import type { Base, Cascade } from "./platform.ts";

type Owned = Pick<Kind, "collection" | "goesWithOwner">;

/**
 * Removes the records of kinds that go with their owner. No epoch protects these deletions, so the fence is asked
 * before every write.
 */
export const cascade = (platform: Base, kinds: readonly Owned[]): Cascade => {
  const { db, fence, clock } = platform;
  const removeOwned = async (owner: "tenant" | "app", id: string): Promise<void> => {
    for (const kind of kinds) if (kind.collection.owner.kind === owner) await removeFrom(platform, kind, id);
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
const removeFrom = async (platform: Base, kind: Owned, ownerId: string): Promise<void> => {
  const { collection, goesWithOwner } = kind;
  const { owner } = collection;
  if (goesWithOwner === undefined || owner.kind === "installation") return;
  const { index, before } = goesWithOwner;
  const rows = collectionOf<{ _id: string }>(platform.db, collection);
  const isOwned = { [owner.member]: ownerId };
  const found = () =>
    rows
      .find(isOwned, { projection: { _id: 1 }, hint: index })
      .limit(pageSize)
      .toArray();
  for (let page = await found(); page.length > 0; page = await found()) {
    const ids = page.map(({ _id }) => _id);
    await before?.(platform, ids);
    platform.fence.check();
    await rows.deleteMany({ ...isOwned, _id: { $in: ids } });
    for (const id of ids) platform.announce(collection.name, id, owner.kind === "app" ? ownerId : undefined);
  }
};
