import type { Clock } from "#core/domain/clock.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { UpdateSubscription } from "#core/schema/subscription.ts";
import type { SubscriptionRow } from "#core/storage/subscription-row.ts";
import { isEnded, type Subscriptions } from "#core/storage/subscriptions.ts";
import { statusChange } from "./register-subscription.ts";
import { changedAddress } from "./subscription-checks.ts";

export type UpdateSubscriptionDeps = {
  subscriptions: Pick<Subscriptions, "find" | "update">;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (row: SubscriptionRow) => void;
  clock: Clock;
};

const attempts = 5; // each lost to another writer of the same subscription's status

/** Changes a subscription. A new token makes an invalid one good again. */
export const updateSubscription =
  ({ subscriptions, publish, clock }: UpdateSubscriptionDeps) =>
  async (found: SubscriptionRow, body: UpdateSubscription): Promise<SubscriptionRow> => {
    let read: SubscriptionRow | null = found;
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (read === null) throw new NotFound("subscription");
      const updated = await subscriptions.update(read.tenant_id, read, changeOf(read, body, clock.now()));
      if (updated === "taken") {
        throw new AppError("HS_ALREADY_EXISTS", "another subscription of the app has this token", { field: "token" });
      }
      if (updated !== null) {
        if (isEnded(read, updated)) publish(updated);
        return updated;
      }
      read = await subscriptions.find(read.tenant_id, read.app_id, read._id);
    }
    throw new AppError("HS_CONFLICT", "the subscription is being changed by others at the same moment", {
      status: "busy",
    });
  };

const changeOf = (read: SubscriptionRow, body: UpdateSubscription, now: Date): Partial<SubscriptionRow> => {
  const address = changedAddress(read.channel, body);
  const isRenewed = address.token !== undefined && address.token !== read.token && read.status === "invalid";
  const status = body.status ?? (isRenewed ? "subscribed" : undefined);
  return {
    ...address,
    ...(status !== undefined && status !== read.status && statusChange(status, now)),
    ...(body.language !== undefined && { language: body.language }),
    ...(body.test_device !== undefined && { test_device: body.test_device }),
    ...(body.device !== undefined && { device: body.device }),
    updated_at: now,
  };
};
