import type { Db } from "mongodb";
import type { ActivityPlatform } from "../../schema/live-activities/type.ts";
import { type CollectionSpec, collectionOf } from "../mongo/collection.ts";
import { findIds } from "../mongo/pages.ts";
import type { Managed } from "../settings/managed.ts";
import type { Changeable } from "../work/intended-changes.ts";

export type ObjectSchema = { type: "object"; properties: Record<string, Record<string, unknown>>; required?: string[] };

export type LiveActivityTypeRow = Changeable & {
  _id: string;
  tenant_id: string;
  app_id: string;
  name: string;
  description: string | null;
  content_state_schema: ObjectSchema;
  attributes_schema: ObjectSchema;
  /** Absent in what an earlier release stored: iOS alone. */
  platforms?: ActivityPlatform[];
  /** Absent in what an earlier release stored: no. */
  frequent_updates?: boolean;
  /** Registered push-to-start tokens; absent until there is one. */
  push_to_start_tokens?: number;
  managed: Managed | null;
  created_at: Date;
  updated_at: Date;
};

export const liveActivityTypeCollection: CollectionSpec = {
  name: "live_activity_types",
  indexes: [
    { key: { app_id: 1, name: 1 }, name: "name", unique: true },
    { key: { "managed.uid": 1 }, name: "managed" },
  ],
  owner: { kind: "app", member: "app_id" },
  appRemoval: { index: "name" },
  erasure: { kept: "names nobody" },
  retention: { kept: "until it is deleted" },
};

export const liveActivityTypes = (db: Db) => {
  const rows = collectionOf<LiveActivityTypeRow>(db, liveActivityTypeCollection);
  return {
    /** The type of an app that has a name; at most one. */
    called: (appId: string, name: string): Promise<LiveActivityTypeRow | null> => rows.findOne({ app_id: appId, name }),
    countOthers: (appId: string, exceptId: string): Promise<number> =>
      rows.countDocuments({ app_id: appId, _id: { $ne: exceptId } }, { hint: "name" }),
    /** Ids of an app's types. */
    idsOf: (appId: string): Promise<string[]> => findIds(rows, { app_id: appId }, { hint: "name" }),
    removeAll: (ids: readonly string[]): Promise<unknown> => rows.deleteMany({ _id: { $in: [...ids] } }),
  };
};
