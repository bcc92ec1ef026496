import type { Timing } from "#core/domain/timing.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { oneWriter } from "#core/storage/mongo/duplicate.ts";
import type { Plans } from "#core/storage/plans/plans.ts";
import type { Tenants } from "#core/storage/tenants/tenants.ts";
import { refusal, type Verdict } from "../engine/handler.ts";
import { type Finding, refused } from "../policies/conditions.ts";

/** Writes a record when its owner's plan has a place for it. */
export type WithinPlan<Owner> = <T>(
  at: { owner: Owner; id: string; row: object | null },
  write: () => Promise<T>,
) => Promise<T | { verdict: Verdict }>;

/**
 * Writes new records only while `whyNot` gives null, those of one owner one after another, so that two do not both get
 * the last place. A record that is there already needs no place.
 */
export const withinPlan = <Owner extends { _id: string }>(
  whyNot: (owner: Owner, exceptId: string) => Promise<Finding | null>,
  { placeMs }: Pick<Timing, "placeMs">,
): WithinPlan<Owner> => {
  const oneByOne = oneWriter();
  return ({ owner, id, row }, write) => {
    if (row !== null) return write();
    return oneByOne(owner._id, async () => {
      const full = await whyNot(owner, id);
      return full === null ? write() : { verdict: refusal(full, placeMs) };
    });
  };
};

/** What a plan says about one kind of thing that belongs to an app. */
export type PlanLimitOptions = {
  owners: { tenants: Pick<Tenants, "find">; plans: Pick<Plans, "find"> };
  /** That the plan must include; null: none. */
  feature: PlanFeature | null;
  /** In words, e.g. `webhook endpoints`. */
  things: string;
  /** How many an app may have; given the plan's own number of webhook endpoints. */
  most: (plan: { webhook_endpoints: number }) => number;
  countOthers: (appId: string, exceptId: string) => Promise<number>;
};

/** Says whether an app may have one more of something by its tenant's plan; null when it may. */
export const planLimit =
  ({ owners, feature, things, most, countOthers }: PlanLimitOptions) =>
  async (app: AppRow, exceptId: string): Promise<Finding | null> => {
    const tenant = await owners.tenants.find(app.tenant_id);
    const plan = tenant === null ? null : await owners.plans.find(tenant.plan);
    if (plan === null) return null; // the Tenant's own condition says so
    if (feature !== null && !plan.features.includes(feature)) {
      return refused("PlanFeatureRequired", `the plan ${plan._id} does not include ${feature}`);
    }
    const limit = most(plan);
    if ((await countOthers(app._id, exceptId)) < limit) return null;
    return refused("PlanLimitReached", `the plan ${plan._id} has room for ${limit} ${things} an app`);
  };
