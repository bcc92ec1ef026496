import type { Clock } from "#core/domain/clock.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { UpdateSubscription } from "#core/schema/subscription.ts";
import type { SubscriptionRow, Subscriptions } from "#core/storage/subscriptions.ts";
import { statusChange } from "./register-subscription.ts";
import { changedAddress } from "./subscription-checks.ts";

export type UpdateSubscriptionDeps = { subscriptions: Pick<Subscriptions, "update">; clock: Clock };

/** Changes a subscription. A new token makes an invalid one good again. */
export const updateSubscription =
  ({ subscriptions, clock }: UpdateSubscriptionDeps) =>
  async (found: SubscriptionRow, body: UpdateSubscription): Promise<SubscriptionRow> => {
    const address = changedAddress(found.channel, body);
    const now = clock.now();
    const isRenewed = address.token !== undefined && address.token !== found.token && found.status === "invalid";
    const status = body.status ?? (isRenewed ? "subscribed" : undefined);
    const updated = await subscriptions.update(found.tenant_id, found._id, {
      ...address,
      ...(status !== undefined && status !== found.status && statusChange(status, now)),
      ...(body.language !== undefined && { language: body.language }),
      ...(body.test_device !== undefined && { test_device: body.test_device }),
      ...(body.device !== undefined && { device: body.device }),
      updated_at: now,
    });
    if (updated === null) throw new NotFound("subscription");
    if (updated === "taken") {
      throw new AppError("HS_ALREADY_EXISTS", "another subscription of the app has this token", { field: "token" });
    }
    return updated;
  };
