import type { Subscriptions } from "#core/storage/subscriptions.ts";
import type { UserRow, Users } from "#core/storage/users.ts";

export type DeleteUserDeps = {
  users: Pick<Users, "remove">;
  subscriptions: Pick<Subscriptions, "removeOfUser">;
};

/** Deletes a user with his subscriptions; again afterwards those that were registered meanwhile. Can be repeated. */
export const deleteUser =
  ({ users, subscriptions }: DeleteUserDeps) =>
  async ({ _id, tenant_id: tenantId, app_id: appId }: UserRow): Promise<void> => {
    await subscriptions.removeOfUser(tenantId, appId, _id);
    await users.remove(tenantId, _id);
    await subscriptions.removeOfUser(tenantId, appId, _id);
  };
