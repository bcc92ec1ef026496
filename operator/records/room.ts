import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Plans } from "#core/storage/plans/plans.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import { type Finding, refused } from "../policies/conditions.ts";

/** What a plan says about one kind of thing that belongs to an app. */
export type RoomOptions = {
  tenants: Pick<Tenants, "find">;
  plans: Pick<Plans, "find">;
  feature: PlanFeature;
  /** In words, e.g. `webhook endpoints`. */
  things: string;
  /** How many an app may have; given the plan's own number of webhook endpoints. */
  most: (plan: { webhook_endpoints: number }) => number;
  countOthers: (appId: string, exceptId: string) => Promise<number>;
};

export type PlanRoom = (app: AppRow, exceptId: string) => Promise<Finding | null>;

/** Whether an app may have one more of something by its tenant's plan; null when it may. */
export const planRoom =
  ({ tenants, plans, feature, things, most, countOthers }: RoomOptions): PlanRoom =>
  async (app, exceptId) => {
    const tenant = await tenants.find(app.tenant_id);
    const plan = tenant === null ? null : await plans.find(tenant.plan);
    if (plan === null) return null; // the Tenant's own condition tells
    if (!plan.features.includes(feature)) {
      return refused("PlanFeatureRequired", `the plan ${plan._id} does not include ${feature}`);
    }
    const limit = most(plan);
    if ((await countOthers(app._id, exceptId)) < limit) return null;
    return refused("PlanLimitReached", `the plan ${plan._id} has room for ${limit} ${things} an app`);
  };
