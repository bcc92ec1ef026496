import { userUpdated } from "#core/domain/people/events.ts";
import type { EventPublisher } from "#core/queue/events.ts";
import { isOfOne } from "#core/queue/jetstream/passing.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";

export type ChangesDeps = {
  users: Pick<Users, "forgetChanges">;
  subscriptions: Pick<Subscriptions, "ofUsers" | "nameOwner">;
  events: EventPublisher;
};

/** What is read of a user to tell of them. */
type ChangedUser = Parameters<typeof userUpdated>[0] & Pick<UserRow, "tenant_id" | "external_id">;

const batch = { most: 20, inFlight: 2 }; // each with up to 100 subscriptions of 20 KB

/**
 * Publishes what has changed of a user as one `user.updated`, then forgets it; those that are due at the same time share
 * the queries. What JetStream has no room for stays, and is due again.
 * @throws Unavailable when JetStream is away: they stay due, before those that changed later
 */
export const publishChanges = (deps: ChangesDeps): ((user: ChangedUser) => Promise<void>) =>
  gather({ write: (users: readonly ChangedUser[]) => publishAll(deps, users), ...batch, isOfOne });

const publishAll = async (
  { users, subscriptions, events }: ChangesDeps,
  changed: readonly ChangedUser[],
): Promise<void[]> => {
  await nameOwners(subscriptions, changed);
  const byApp = [...Map.groupBy(changed, ({ app_id }) => app_id)];
  const owned = await Promise.all(
    byApp.map(([appId, of]) =>
      subscriptions.ofUsers(
        appId,
        of.map(({ _id }) => _id),
      ),
    ),
  );
  const byUser = Map.groupBy(owned.flat(), ({ user_id }) => user_id);
  const byTenant = [...Map.groupBy(changed, ({ tenant_id }) => tenant_id)];
  const published = await Promise.all(
    byTenant.map(async ([tenantId, of]) => {
      const made = of.map((user) => userUpdated(user, byUser.get(user._id) ?? []));
      return (await events.publish(tenantId, made)) ? of : [];
    }),
  );
  const done = published.flat();
  if (done.length > 0) await users.forgetChanges(done);
  return changed.map(() => undefined);
};

const namedAtOnce = 8;

/** Whoever changes an external id repeats it on the subscriptions, unless their process was killed or another change was faster. */
const nameOwners = async (
  { nameOwner }: Pick<Subscriptions, "nameOwner">,
  changed: readonly ChangedUser[],
): Promise<void> => {
  const renamed = changed.filter((user) => user.changed.includes("external_id"));
  await mapBounded(renamed, namedAtOnce, nameOwner);
};
