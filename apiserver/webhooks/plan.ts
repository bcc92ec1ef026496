import type { AppRow } from "#core/storage/apps.ts";
import type { PlanRow } from "#core/storage/plans.ts";
import { mostEndpoints, type WebhookEndpoints } from "#core/storage/webhook-endpoints.ts";
import type { Caller } from "../caller.ts";
import { type AllPlans, featureRule, planRefusal } from "../plan-rules.ts";

export type PlanRulesDeps = { plans: AllPlans; endpoints: Pick<WebhookEndpoints, "count"> };

/** What a plan says about webhooks. Source: decisions 1.3. */
export const planRules = ({ plans, endpoints }: PlanRulesDeps) => {
  const requireFeature = featureRule(plans, "webhooks");
  const refusal = planRefusal(plans);

  /** Throws unless an app with `count` endpoints is within the plan. */
  const requireCount = async ({ plan }: Caller, count: number): Promise<void> => {
    if (count <= roomOf(plan)) return;
    const message = `an app may have ${roomOf(plan)} webhook endpoints`;
    throw await refusal("webhook_endpoints", message, (other) => hasWebhooks(other) && roomOf(other) >= count);
  };

  return {
    requireFeature,
    requireCount,
    /** Throws unless the app may have one more endpoint. */
    requireRoom: async (caller: Caller, app: AppRow): Promise<void> => {
      await requireFeature(caller);
      await requireCount(caller, (await endpoints.count(app._id)) + 1);
    },
  };
};

const hasWebhooks = ({ features }: PlanRow): boolean => features.includes("webhooks");

const roomOf = ({ webhook_endpoints: room }: PlanRow): number => Math.min(room, mostEndpoints);
