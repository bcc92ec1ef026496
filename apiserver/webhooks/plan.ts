import type { AppError } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { PlanRow } from "#core/storage/plans/plans.ts";
import { mostEndpoints, type WebhookEndpoints } from "#core/storage/webhooks/endpoints.ts";
import type { Caller } from "../access/caller.ts";
import { type AllPlans, featureRule, planRefusal } from "../limits/plan-rules.ts";
import { quotaExceeded } from "../limits/quota-exceeded.ts";

export type PlanRulesDeps = { plans: AllPlans; endpoints: Pick<WebhookEndpoints, "count"> };

/** What a plan says about webhooks. Source: decisions 1.3. */
export const planRules = ({ plans, endpoints }: PlanRulesDeps) => {
  const requireFeature = featureRule(plans, "webhooks");
  const refusal = planRefusal(plans);

  /** Throws when an app with `count` endpoints is beyond the plan, and a higher one has room for them. */
  const requirePlan = async ({ plan }: Caller, count: number): Promise<void> => {
    if (count <= roomOf(plan)) return;
    const message = `an app may have ${roomOf(plan)} webhook endpoints`;
    const error = await refusal("webhook_endpoints", message, (other) => hasWebhooks(other) && roomOf(other) >= count);
    if (error.details["plan"] !== null) throw error;
  };

  return {
    requireFeature,

    /** Throws unless an app with `count` endpoints is within the plan, and within what any plan allows. */
    requireCount: async (caller: Caller, count: number): Promise<void> => {
      await requirePlan(caller, count);
      const limit = roomOf(caller.plan);
      if (count > limit) throw exhausted(limit);
    },

    /** Throws when a higher plan is needed for one more endpoint. What no plan would help is judged after the body. */
    requireRoom: async (caller: Caller, app: AppRow): Promise<void> => {
      await requireFeature(caller);
      await requirePlan(caller, (await endpoints.count(app._id)) + 1);
    },
  };
};

const hasWebhooks = ({ features }: PlanRow): boolean => features.includes("webhooks");

const roomOf = ({ webhook_endpoints: room }: PlanRow): number => Math.min(room, mostEndpoints);

const exhausted = (limit: number): AppError => {
  const exceeded = { metric: "webhook_endpoints", limit, used: limit, needed: 1 };
  return quotaExceeded(`an app may have ${limit} webhook endpoints`, exceeded);
};
