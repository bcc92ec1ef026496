import type { Db, Filter } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { type RecoveryRow, type WebhookRow, webhookCollection } from "./webhooks.ts";

/** No app has more endpoints, whatever its plan says. Source: decisions 9.7. */
export const mostEndpoints = 100;

export type WebhookEndpoints = ReturnType<typeof webhookEndpoints>;

/** What the REST interface does to endpoints; the dispatcher's part is webhooks.ts. */
export const webhookEndpoints = (db: Db) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  /** `dueAt` has the endpoint looked at then, in the same write. */
  const change = (
    filter: Filter<WebhookRow>,
    set: Partial<WebhookRow>,
    dueAt: Date | null,
  ): Promise<WebhookRow | null> =>
    rows.findOneAndUpdate(
      filter,
      dueAt === null ? { $set: set } : { $set: { ...set, due_at: dueAt }, $inc: { due_changes: 1 } },
      { returnDocument: "after" },
    );
  return {
    /** An app's endpoints in the order of creation. */
    ofApp: async (tenantId: string, appId: string): Promise<WebhookRow[]> => {
      const found = await rows.find({ app_id: appId, tenant_id: tenantId }, { hint: "app" }).toArray();
      return found.sort((a, b) => a.created_at.getTime() - b.created_at.getTime() || (a._id < b._id ? -1 : 1));
    },

    /** Found one by one, a hundred at most: the server does not take the index for a count. */
    count: async (appId: string): Promise<number> =>
      (await rows.find({ app_id: appId }, { projection: { _id: 1 }, hint: "app" }).toArray()).length,

    find: (tenantId: string, appId: string, id: string): Promise<WebhookRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    insert: async (row: WebhookRow): Promise<void> => void (await rows.insertOne(row)),

    /** Writes members of an endpoint that nobody has changed since it was read; null otherwise. */
    change: (
      { _id, tenant_id, updated_at }: WebhookRow,
      set: Partial<WebhookRow>,
      dueAt: Date | null,
    ): Promise<WebhookRow | null> => change({ _id, tenant_id, updated_at }, set, dueAt),

    /** Asks for deliveries to be sent again; null when a recovery is running, or the endpoint is disabled or gone. */
    beginRecovery: ({ _id, tenant_id }: WebhookRow, recovery: RecoveryRow): Promise<WebhookRow | null> =>
      change(
        {
          _id,
          tenant_id,
          status: { $ne: "disabled" },
          $or: [{ recovery: null }, { "recovery.completed_at": { $ne: null } }],
        },
        { recovery },
        recovery.requested_at,
      ),

    /** False when somebody has changed it since it was read, or it is gone. */
    remove: async ({ _id, tenant_id, updated_at }: WebhookRow): Promise<boolean> =>
      (await rows.deleteOne({ _id, tenant_id, updated_at })).deletedCount === 1,

    /** Removes one that was only just made, whatever became of it. */
    takeBack: async ({ _id, tenant_id }: WebhookRow): Promise<void> => void (await rows.deleteOne({ _id, tenant_id })),
  };
};
