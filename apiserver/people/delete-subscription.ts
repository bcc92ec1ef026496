import type { Clock } from "#core/domain/clock.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { subscriptionRemoval } from "#core/storage/people/removal.ts";
import type { SubscriptionRow } from "#core/storage/people/subscription-row.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { Deletions } from "#core/storage/warehouse/deletions.ts";
import { type RemovalRow, type Removals } from "#core/storage/work/removals.ts";

export type DeleteSubscriptionDeps = {
  removals: Pick<Removals, "begin">;
  subscriptions: Pick<Subscriptions, "remove">;
  /** Notes that it is gone, for warehouse exports. */
  deleted: Pick<Deletions, "note">;
  /** Forgets what it had reported of live activities. */
  forget: (row: SubscriptionRow) => Promise<void>;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (removal: RemovalRow) => void;
  clock: Clock;
};

/** Deletes a subscription. Events of it that may not have been published outlive it. Can be repeated. */
export const deleteSubscription =
  ({ removals, subscriptions, deleted, forget, publish, clock }: DeleteSubscriptionDeps) =>
  async (row: SubscriptionRow): Promise<void> => {
    const removal = row.outbox.length === 0 ? null : subscriptionRemoval(row, clock.now());
    if (removal !== null) await removals.begin(removal);
    await forget(row);
    await deleted.note(ofRow(row), "subscriptions", [row._id], clock.now());
    await subscriptions.remove(row.tenant_id, row._id);
    if (removal !== null) publish(removal);
  };
