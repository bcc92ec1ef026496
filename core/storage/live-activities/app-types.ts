import type { Db } from "mongodb";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { appSettings } from "../settings/app-settings.ts";
import { type LiveActivityTypeRow, liveActivityTypeCollection } from "./types.ts";

const hint = "name"; // its prefix finds an app's types

/** Finds a type by its id, else by its name. Source: docs/reference/live-activities.md#schemas. */
export const activityTypes = (db: Db) => {
  const store = appActivityTypes(db);
  return async (of: OfApp, idOrName: string): Promise<LiveActivityTypeRow | null> =>
    (await store.find(of, idOrName)) ?? store.findByName(of, idOrName);
};

/** What the REST interface does to live activity types; the operator's part is types.ts. */
export const appActivityTypes = (db: Db) => ({
  ...appSettings<LiveActivityTypeRow>(db, liveActivityTypeCollection, hint),

  findByName: ({ tenantId, appId }: OfApp, name: string): Promise<LiveActivityTypeRow | null> =>
    collectionOf<LiveActivityTypeRow>(db, liveActivityTypeCollection).findOne(
      { app_id: appId, name, tenant_id: tenantId },
      { hint },
    ),
});
