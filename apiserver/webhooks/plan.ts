import { AppError } from "#core/errors.ts";
import type { AppRow } from "#core/storage/apps.ts";
import type { PlanRow } from "#core/storage/plans.ts";
import { mostEndpoints, type WebhookEndpoints } from "#core/storage/webhook-endpoints.ts";
import type { Caller } from "../caller.ts";

export type PlanRulesDeps = {
  /** Every plan there is: a handful. */
  plans: () => Promise<PlanRow[]>;
  endpoints: Pick<WebhookEndpoints, "count">;
};

/** What a plan says about webhooks. Source: decisions 1.3. */
export const planRules = ({ plans, endpoints }: PlanRulesDeps) => {
  const refused = async (feature: string, message: string, suffices: (plan: PlanRow) => boolean): Promise<AppError> => {
    const sufficient = (await plans()).filter(suffices).sort((a, b) => a.api_rps - b.api_rps);
    return new AppError("HS_PLAN_FEATURE_REQUIRED", message, { feature, plan: sufficient[0]?._id ?? null });
  };

  const requireFeature = async ({ plan }: Caller): Promise<void> => {
    if (hasWebhooks(plan)) return;
    throw await refused("webhooks", `the plan ${plan._id} does not include webhooks`, hasWebhooks);
  };

  /** Throws unless an app with `count` endpoints is within the plan. */
  const requireCount = async ({ plan }: Caller, count: number): Promise<void> => {
    if (count <= roomOf(plan)) return;
    const message = `an app may have ${roomOf(plan)} webhook endpoints`;
    throw await refused("webhook_endpoints", message, (other) => hasWebhooks(other) && roomOf(other) >= count);
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
