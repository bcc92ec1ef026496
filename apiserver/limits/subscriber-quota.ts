import { ofRow } from "#core/storage/mongo/collection.ts";
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
  caller: Pick<Caller, "tenant" | "plan">,
  wanted: readonly Pick<SubscriptionRow, "tenant_id" | "app_id" | "channel" | "token">[],
) => Promise<void>;

/**
 * Refuses more subscriptions that count than the plan has left: all of them or none. Those that are not `invalid` count
 * already, whoever of the tenant has them. Source: docs/reference/limits.md#subscriber-quota.
 * @throws AppError HS_QUOTA_EXCEEDED
 */
export const requireSubscribers =
  ({ subscriptions, countBillable }: SubscriberQuotaDeps): RequireSubscribers =>
  async ({ tenant, plan: { subscribers: limit } }, wanted) => {
    if (limit === null || wanted.length === 0) return;
    const used = await countBillable({ tenantId: tenant._id, most: Math.max(limit, 1) });
    if (used + wanted.length <= limit) return;
    const known = await Promise.all(wanted.map((row) => subscriptions.findByToken(ofRow(row), row.channel, row.token)));
    const needed = known.filter((row) => row === null || row.status === "invalid").length;
    if (needed > 0 && used + needed > limit)
      throw quotaExceeded("the plan's subscribers are exhausted", { metric: "subscribers", limit, used, needed });
  };
