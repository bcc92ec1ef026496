import type { Db } from "mongodb";
import { type AppRow, appCollection } from "../apps/apps.ts";
import { collectionOf } from "../mongo/collection.ts";
import { idsBehind } from "../mongo/page-range.ts";
import { type PlanRow, planCollection } from "../plans/plans.ts";
import { type TenantRow, tenantCollection } from "../tenants/tenants.ts";

const page = 500;

/**
 * Pages of apps behind an id, each with the days that its plan keeps events, or fewer where the app says so. An app whose
 * plan is gone keeps them as long as any plan does.
 */
export const keptApps =
  (db: Db) =>
  async (after: string): Promise<{ tenantId: string; appId: string; days: number }[]> => {
    const plans = await collectionOf<PlanRow>(db, planCollection).find().toArray();
    const apps = await collectionOf<AppRow>(db, appCollection)
      .find({ _id: idsBehind("app", after) }, { projection: { tenant_id: 1, retention_days: 1 } })
      .sort({ _id: 1 })
      .limit(page)
      .toArray();
    const tenantIds = [...new Set(apps.map(({ tenant_id: id }) => id))];
    const tenants = await collectionOf<TenantRow>(db, tenantCollection)
      .find({ _id: { $in: tenantIds } }, { projection: { plan: 1 } })
      .toArray();
    const planOf = new Map(tenants.map(({ _id, plan }) => [_id, plan]));
    const daysOf = new Map(plans.map(({ _id, retention_days: days }) => [_id, days]));
    const longest = Math.max(...daysOf.values());
    if (daysOf.size === 0) return []; // no plan says how long to keep anything
    return apps.map(({ _id, tenant_id: tenantId, retention_days: own }) => {
      const days = daysOf.get(planOf.get(tenantId) ?? "") ?? longest;
      return { tenantId, appId: _id, days: Math.min(own ?? days, days) };
    });
  };
