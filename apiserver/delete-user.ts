import type { Clock } from "#core/domain/clock.ts";
import { type RemovalRow, type Removals, userRemoval } from "#core/storage/removals.ts";
import type { Subscriptions } from "#core/storage/subscriptions.ts";
import type { UserRow, Users } from "#core/storage/users.ts";

export type DeleteUserDeps = {
  removals: Pick<Removals, "begin">;
  users: Pick<Users, "remove">;
  subscriptions: Pick<Subscriptions, "ofUser" | "removeOfUser">;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (removal: RemovalRow) => void;
  clock: Clock;
};

/**
 * Deletes a user with his subscriptions; again afterwards those that were registered meanwhile. It is written down
 * first, so that the dispatchers finish what a kill interrupts; they also erase his traces. Can be repeated.
 */
export const deleteUser =
  ({ removals, users, subscriptions, publish, clock }: DeleteUserDeps) =>
  async (user: UserRow): Promise<void> => {
    const { _id, tenant_id: tenantId, app_id: appId } = user;
    const removal = userRemoval(user, await subscriptions.ofUser(tenantId, appId, _id), clock.now());
    await removals.begin(removal);
    await subscriptions.removeOfUser(tenantId, appId, _id);
    await users.remove(tenantId, _id);
    await subscriptions.removeOfUser(tenantId, appId, _id);
    publish(removal);
  };
