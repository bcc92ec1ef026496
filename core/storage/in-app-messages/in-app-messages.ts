import type { Db } from "mongodb";
import type { InAppRedisplay, InAppStatus, InAppTrigger, InAppVariant } from "../../schema/in-app-messages/content.ts";
import { inAppBounds } from "../../schema/in-app-messages/content.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "../mongo/collection.ts";
import { namedPage, type SortPosition, sortedPage } from "../mongo/page-range.ts";
import { appSettings, type SettingRow } from "../settings/app-settings.ts";

/** A message that devices show inside the app. Segments stand in it by their ids. */
export type InAppMessageRow = SettingRow & {
  name: string;
  status: InAppStatus;
  target: { included_segments: string[]; excluded_segments: string[] };
  /** Both of `target`, each once. */
  segment_ids: string[];
  triggers: InAppTrigger[];
  redisplay: InAppRedisplay | null;
  priority: number;
  start_at: Date | null;
  end_at: Date | null;
  variants: InAppVariant[];
};

export const inAppMessageCollection: CollectionSpec = {
  name: "in_app_messages",
  indexes: [
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    { key: { app_id: 1, created_at: 1, _id: 1 }, name: "created" },
    { key: { app_id: 1, status: 1 }, name: "status" },
    { key: { app_id: 1, segment_ids: 1 }, name: "segments" },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "name" },
  erasure: { kept: "what an app says to everybody" },
  retention: { kept: "until it is deleted" },
};

export type InAppMessages = ReturnType<typeof inAppMessages>;

const hint = "name"; // its prefix finds an app's messages

export const inAppMessages = (db: Db) => {
  const rows = collectionOf<InAppMessageRow>(db, inAppMessageCollection);
  return {
    ...appSettings<InAppMessageRow>(db, inAppMessageCollection, hint),

    /** Counted by the store: each may say a lot. */
    count: (appId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId }, { hint, limit: inAppBounds.messages + 1 }),

    countOthers: (appId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId, _id: { $ne: exceptId } }, { hint }),

    /** Active ones of an app beside one, counted as far as matters. */
    countOtherActive: (appId: string, exceptId: string): Promise<number> =>
      rows.countDocuments(
        { app_id: appId, status: "active", _id: { $ne: exceptId } },
        { hint: "status", limit: inAppBounds.active },
      ),

    /** The one of an app that has a name. */
    named: (appId: string, name: string): Promise<InAppMessageRow | null> =>
      rows.findOne({ app_id: appId, name }, { hint }),

    /** Whether an app has any that is active. */
    isAnyActive: async (appId: string): Promise<boolean> =>
      (await rows.findOne({ app_id: appId, status: "active" }, { projection: { _id: 1 }, hint: "status" })) !== null,

    /** Active ones of an app, whether their time has come or not. */
    active: (appId: string): Promise<InAppMessageRow[]> =>
      rows.find({ app_id: appId, status: "active" }, { hint: "status", limit: inAppBounds.active }).toArray(),

    /** One page of an app's, by name or by when they were made. */
    page: (
      { tenantId, appId }: OfApp,
      { limit, ...place }: ListPlace & { limit: number },
    ): Promise<InAppMessageRow[]> => {
      const isByName = place.sort === "name";
      const { filter, sort } = isByName ? namedPage(place) : sortedPage("created_at", place);
      return rows
        .find({ app_id: appId, ...filter, tenant_id: tenantId }, { hint: isByName ? hint : "created" })
        .sort(sort)
        .limit(limit)
        .toArray();
    },
  };
};

type ListPlace = { sort: string; after: SortPosition | null; isDescending: boolean };
