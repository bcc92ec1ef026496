import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { Caller } from "../access/caller.ts";
import { quotaExceeded } from "./quota-exceeded.ts";

export type SubscriberQuotaDeps = {
  subscriptions: Pick<Subscriptions, "findByToken">;
  /** Subscriptions of a tenant that count against its plan, at most `most`; may be up to 10 s old. */
  countBillable: (of: Billable) => Promise<number>;
};

export type Billable = { tenantId: string; most: number };

export type RequireSubscribers = (
  caller: Caller,
  wanted: Pick<SubscriptionRow, "app_id" | "channel" | "token">,
) => Promise<void>;

/**
 * Refuses another subscription that counts when the plan's are used up. Those that are not `invalid` count already,
 * whoever of the tenant has them. Source: docs/reference/limits.md#subscriber-quota.
 * @throws AppError HS_QUOTA_EXCEEDED
 */
export const requireSubscribers =
  ({ subscriptions, countBillable }: SubscriberQuotaDeps): RequireSubscribers =>
  async ({ tenant, plan }, { app_id: appId, channel, token }) => {
    if (plan.subscribers === null) return;
    const used = await countBillable({ tenantId: tenant._id, most: Math.max(plan.subscribers, 1) });
    if (used < plan.subscribers) return;
    const known = await subscriptions.findByToken(tenant._id, appId, channel, token);
    if (known !== null && known.status !== "invalid") return;
    const exceeded = { metric: "subscribers", limit: plan.subscribers, used, needed: 1 };
    throw quotaExceeded("the plan's subscribers are exhausted", exceeded);
  };
