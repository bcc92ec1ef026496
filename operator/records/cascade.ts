import type { Db } from "mongodb";
import { apiKeyCollection, apiKeys } from "#core/storage/api-keys/api-keys.ts";
import { revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { apps } from "#core/storage/apps/apps.ts";
import { liveActivityTypeCollection } from "#core/storage/live-activities/types.ts";
import { type CollectionSpec, collectionOf } from "#core/storage/mongo/collection.ts";
import type { Fence } from "#core/storage/settings/managed.ts";
import { webhookCollection } from "#core/storage/webhooks/webhooks.ts";
import { appRemoval, removals } from "#core/storage/work/removals.ts";
import type { Announce } from "./platform.ts";

export type CascadeDeps = {
  db: Db;
  fence: Pick<Fence, "check">;
  announce: Announce;
  doorbell: (endpointId: string) => Promise<void>;
};

/**
 * Removes what cannot be without its owner, whoever made it; each may be repeated after a crash. Nothing of it bears an
 * epoch, so the term is asked for before every write.
 */
export const cascade = ({ db, fence, announce, doorbell }: CascadeDeps) => {
  const removeFrom = async ({ spec, owner, hint, appId }: Owned, { before, tell }: Around = {}): Promise<void> => {
    const rows = collectionOf<{ _id: string }>(db, spec);
    for (;;) {
      const page = await rows
        .find(owner, { projection: { _id: 1 }, hint })
        .limit(pageSize)
        .toArray();
      const ids = page.map(({ _id }) => _id);
      if (ids.length === 0) return;
      await before?.(ids);
      fence.check();
      await rows.deleteMany({ ...owner, _id: { $in: ids } });
      for (const id of ids) announce(spec.name, id, appId);
      if (tell !== undefined) await Promise.all(ids.map(tell)); // of one page
    }
  };
  return {
    /** API keys of a tenant. */
    removeKeys: (tenantId: string): Promise<void> =>
      removeFrom(
        { spec: apiKeyCollection, owner: { tenant_id: tenantId }, hint: "tenant" },
        { before: async (ids) => revokedTokens(db).add(await apiKeys(db).findAll(ids), new Date()) },
      ),
    /**
     * Webhooks and live activity types of an app; dispatchers drop what waits for the webhooks, and remove their history.
     */
    removeParts: async (appId: string): Promise<void> => {
      const owner = { app_id: appId };
      await removeFrom({ spec: webhookCollection, owner, hint: "app", appId }, { tell: doorbell });
      await removeFrom({ spec: liveActivityTypeCollection, owner, hint: "name", appId });
      const app = await apps(db).find(appId);
      if (app === null) return;
      fence.check();
      await removals(db).begin(appRemoval(app, new Date()));
    },
  };
};

/** What belongs to an owner, and the index in which it is found. */
type Owned = { spec: CollectionSpec; owner: object; hint: string; appId?: string };

/** What is done with the ids of a page before it goes, and with each afterwards. */
type Around = { before?: (ids: readonly string[]) => Promise<void>; tell?: (id: string) => Promise<void> };

const pageSize = 500;
