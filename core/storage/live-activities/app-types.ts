import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { insertNew } from "../mongo/duplicate.ts";
import { type LiveActivityTypeRow, liveActivityTypeCollection } from "./types.ts";

export type AppActivityTypes = ReturnType<typeof appActivityTypes>;

/** What the REST interface does to live activity types; the operator's part is types.ts. */
export const appActivityTypes = (db: Db) => {
  const rows = collectionOf<LiveActivityTypeRow>(db, liveActivityTypeCollection);
  /** Its prefix finds an app's types; the planner would not always take it. */
  const hint = "name";
  return {
    /** An app's types in the order of creation. */
    ofApp: async (tenantId: string, appId: string): Promise<LiveActivityTypeRow[]> => {
      const found = await rows.find({ app_id: appId, tenant_id: tenantId }, { hint }).toArray();
      return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1));
    },

    /** Found one by one, a hundred or so at most: the server does not take the index for a count. */
    count: async (appId: string): Promise<number> =>
      (await rows.find({ app_id: appId }, { projection: { _id: 1 }, hint }).toArray()).length,

    findById: (tenantId: string, appId: string, id: string): Promise<LiveActivityTypeRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    findByName: (tenantId: string, appId: string, name: string): Promise<LiveActivityTypeRow | null> =>
      rows.findOne({ app_id: appId, name, tenant_id: tenantId }, { hint }),

    /** False when the app has a type of this name. */
    insert: (row: LiveActivityTypeRow): Promise<boolean> => insertNew(rows, row),

    /** Writes members of a type that nobody has changed since it was read; null otherwise. */
    change: (
      { _id, tenant_id, updated_at }: LiveActivityTypeRow,
      set: Partial<LiveActivityTypeRow>,
    ): Promise<LiveActivityTypeRow | null> =>
      rows.findOneAndUpdate({ _id, tenant_id, updated_at }, { $set: set }, { returnDocument: "after" }),

    /** Removes a type that nobody has changed since it was read; false otherwise. */
    remove: async ({ _id, tenant_id, updated_at }: LiveActivityTypeRow): Promise<boolean> =>
      (await rows.deleteOne({ _id, tenant_id, updated_at })).deletedCount === 1,
  };
};
