import type { Db } from "mongodb";
import type { AppRow } from "#core/storage/apps.ts";
import { collectionOf } from "#core/storage/collection.ts";
import type { Plans } from "#core/storage/plans.ts";
import type { Tenants } from "#core/storage/tenants.ts";
import { type WebhookRow, webhookCollection } from "#core/storage/webhooks.ts";
import { type Finding, refused } from "../engine/conditions.ts";

export type WebhookRoomDeps = { db: Db; tenants: Pick<Tenants, "find">; plans: Pick<Plans, "find"> };

/** Whether an app may have one more endpoint by its tenant's plan; null when it may. */
export const webhookRoom = ({ db, tenants, plans }: WebhookRoomDeps) => {
  const rows = collectionOf<WebhookRow>(db, webhookCollection);
  return async (app: AppRow, exceptId: string): Promise<Finding | null> => {
    const tenant = await tenants.find(app.tenant_id);
    const plan = tenant === null ? null : await plans.find(tenant.plan);
    if (plan === null) return null; // the Tenant's own condition tells
    if (!plan.features.includes("webhooks")) {
      return refused("PlanFeatureRequired", `the plan ${plan._id} does not include webhooks`);
    }
    const others = await rows.countDocuments({ app_id: app._id, _id: { $ne: exceptId } });
    if (others < plan.webhook_endpoints) return null;
    return refused("PlanLimitReached", `the plan ${plan._id} has room for ${plan.webhook_endpoints} endpoints an app`);
  };
};
