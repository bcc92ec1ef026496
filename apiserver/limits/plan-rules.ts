import { AppError } from "#core/errors.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { Caller } from "../access/caller.ts";

/** Every plan there is: a handful. */
export type AllPlans = () => Promise<PlanRow[]>;

/** Says that a plan does not suffice, and which is the lowest that does. Source: decisions 1.3. */
export const planRefusal =
  (plans: AllPlans) =>
  async (feature: string, message: string, suffices: (plan: PlanRow) => boolean): Promise<AppError> => {
    const sufficient = (await plans()).filter(suffices).sort((a, b) => a.api_rps - b.api_rps);
    return new AppError("HS_PLAN_FEATURE_REQUIRED", message, { feature, plan: sufficient[0]?._id ?? null });
  };

/** Throws unless the caller's plan has a feature. */
export const featureRule = (plans: AllPlans, feature: PlanFeature) => {
  const refusal = planRefusal(plans);
  const hasFeature = ({ features }: PlanRow): boolean => features.includes(feature);
  return async ({ plan }: Caller): Promise<void> => {
    if (hasFeature(plan)) return;
    const words = feature.replaceAll("_", " ");
    throw await refusal(feature, `the plan ${plan._id} does not include ${words}`, hasFeature);
  };
};
