import { AppError } from "#core/errors.ts";
import type { PlanFeature } from "#core/schema/vocabulary/plan-features.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import type { Caller } from "../access/caller.ts";
import { type QuotaMetric, quotaExceeded } from "./quota-exceeded.ts";

/** Every plan there is: a handful. */
export type AllPlans = () => Promise<PlanRow[]>;

/** What plans say about something that apps have several of. */
export type PlanRules = {
  /** What they need of the plan; left out: every plan has them. */
  feature?: PlanFeature;
  /** Their name in errors. */
  metric: QuotaMetric;
  /** How many an app may have, whatever its plan says. */
  most: number;
  /** How many a plan allows; left out: plans do not say. */
  ofPlan?: (plan: PlanRow) => number;
};

export type RequireFeature = (caller: Pick<Caller, "plan">, feature: PlanFeature) => Promise<void>;

/** Throws unless the caller's plan has a feature. @throws AppError HS_PLAN_FEATURE_REQUIRED with the lowest plan that has it */
export const requireFeature =
  (plans: AllPlans): RequireFeature =>
  async ({ plan }, feature) => {
    if (plan.features.includes(feature)) return;
    const lowest = await lowestOf(plans, ({ features }) => features.includes(feature));
    const words = feature.replaceAll("_", " ");
    throw planRequired(`the plan ${plan._id} does not include ${words}`, { feature, plan: lowest });
  };

/** Refuses what is beyond a caller's plan. Source: docs/reference/limits.md#plan-features. */
export const planRules = (plans: AllPlans, { feature, metric, most, ofPlan }: PlanRules) => {
  const hasFeature = ({ features }: PlanRow): boolean => feature === undefined || features.includes(feature);
  const mostOf = (plan: PlanRow): number => Math.min(ofPlan?.(plan) ?? most, most);
  const messageOf = (plan: PlanRow): string => `an app may have ${mostOf(plan)} ${metric.replaceAll("_", " ")}`;

  /** Throws when an app with `count` of them is beyond the plan, and a higher one has room for them. */
  const requirePlan = async ({ plan }: Caller, count: number): Promise<void> => {
    if (count <= mostOf(plan)) return;
    const lowest = await lowestOf(plans, (other) => hasFeature(other) && mostOf(other) >= count);
    if (lowest !== null) throw planRequired(messageOf(plan), { feature: metric, plan: lowest });
  };

  return {
    /** Throws unless an app with `count` of them is within the plan, and within what any plan allows. */
    requireCount: async (caller: Caller, count: number): Promise<void> => {
      await requirePlan(caller, count);
      const limit = mostOf(caller.plan);
      if (count > limit) throw quotaExceeded(messageOf(caller.plan), { metric, limit, used: limit, needed: 1 });
    },

    /** Throws when a higher plan is needed for one more. What no plan would help is judged after the body. */
    requireRoom: async (caller: Caller, count: () => Promise<number>): Promise<void> => {
      if (ofPlan !== undefined) await requirePlan(caller, (await count()) + 1);
    },
  };
};

const planRequired = (message: string, details: { feature: string; plan: string | null }): AppError =>
  new AppError("HS_PLAN_FEATURE_REQUIRED", message, details);

/** The lowest plan that suffices; null when none does. */
const lowestOf = async (plans: AllPlans, suffices: (plan: PlanRow) => boolean): Promise<string | null> => {
  const [lowest] = (await plans()).filter(suffices).sort((a, b) => a.api_rps - b.api_rps);
  return lowest?._id ?? null;
};
