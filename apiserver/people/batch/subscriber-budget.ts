import { invalid } from "#core/errors.ts";
import { userBatchLimits } from "#core/schema/people/batch.ts";
import type { Caller } from "../../access/caller.ts";
import { quotaExceeded } from "../../limits/quota-exceeded.ts";
import type { Billable } from "../../limits/subscriber-quota.ts";
import { addressKey, type Item } from "./item.ts";
import type { Known } from "./known.ts";

export type SubscriberBudgetDeps = {
  /** Subscriptions of a tenant that count against its plan, at most `most`; may be up to 10 s old. */
  countBillable: (of: Billable) => Promise<number>;
};

/**
 * Counts the subscriptions that a batch adds against what the plan has left, item by item: each gets all that it asks for,
 * or is refused. Source: docs/reference/limits.md#subscriber-quota.
 */
export const subscriberBudget = async (
  { countBillable }: SubscriberBudgetDeps,
  { tenant, plan }: Caller,
  known: Known,
) => {
  const { subscribers: limit } = plan;
  let used = limit === null ? 0 : await countBillable({ tenantId: tenant._id, most: Math.max(limit, 1) });
  let wanted = 0;
  const isMore = (address: string): boolean => (known.subscriptions.get(address)?.status ?? "invalid") === "invalid";
  return {
    /** @throws AppError HS_QUOTA_EXCEEDED; ValidationError when the batch has more subscriptions than one may have */
    reserve: (item: Item): Item => {
      wanted += item.addressed.length;
      if (wanted > userBatchLimits.subscriptions)
        throw invalid("subscriptions", `a batch has at most ${userBatchLimits.subscriptions} of them`);
      const needed = new Set(item.addressed.map(addressKey).filter(isMore)).size;
      if (limit !== null && needed > 0 && used + needed > limit)
        throw quotaExceeded("the plan's subscribers are exhausted", { metric: "subscribers", limit, used, needed });
      used += needed;
      return item;
    },
  };
};
