import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { appSettings } from "../settings/app-settings.ts";
import { type RecoveryRow, type WebhookRow, webhookCollection } from "./webhooks.ts";

/** No app has more endpoints, whatever its plan says. Source: docs/reference/limits.md#webhook-bounds. */
export const mostEndpoints = 100;

export type WebhookEndpoints = ReturnType<typeof webhookEndpoints>;

/** What the REST interface does to endpoints; the dispatcher's part is webhooks.ts. */
export const webhookEndpoints = (db: Db) => ({
  ...appSettings<WebhookRow>(db, webhookCollection, "app"),

  /** Asks for deliveries to be sent again; null when a recovery is running, or the endpoint is disabled or gone. */
  beginRecovery: ({ _id, tenant_id }: WebhookRow, recovery: RecoveryRow): Promise<WebhookRow | null> =>
    collectionOf<WebhookRow>(db, webhookCollection).findOneAndUpdate(
      {
        _id,
        tenant_id,
        status: { $ne: "disabled" },
        $or: [{ recovery: null }, { "recovery.completed_at": { $ne: null } }],
      },
      { $set: { recovery, due_at: recovery.requested_at } },
      { returnDocument: "after" },
    ),
});
