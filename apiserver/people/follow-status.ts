import type { UpdateSubscription } from "#core/schema/people/subscription.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { OptOuts } from "#core/storage/suppressions/opt-outs.ts";

export type FollowStatus = (row: SubscriptionRow, status: UpdateSubscription["status"]) => Promise<void>;

/**
 * Has the suppression list follow a status that a request gives a subscription, also when it has that status already:
 * so that a request which was cut short is done by its repeat.
 */
export const followStatus =
  ({ keep, takeBack }: OptOuts): FollowStatus =>
  async (row, status) => {
    const of = ofRow(row);
    if (status === "unsubscribed") await keep(of, "api", [row]);
    if (status === "subscribed") await takeBack(of, row);
  };
