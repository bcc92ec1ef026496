import type { Clock } from "#core/domain/clock.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import { mergedRemovals, userRemoval } from "#core/storage/people/removal.ts";
import type { Subscriptions } from "#core/storage/people/subscriptions.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import { type RemovalRow, type Removals } from "#core/storage/work/removals.ts";

export type DeleteUserDeps = {
  removals: Pick<Removals, "begin">;
  users: Pick<Users, "find" | "remove">;
  subscriptions: Pick<Subscriptions, "ofUser" | "removeOfUser">;
  /** Publishes what is in an outbox, without being waited for. */
  publish: (removal: RemovalRow) => void;
  clock: Clock;
};

/**
 * Deletes a user with their subscriptions. It is written down first, so that the dispatchers finish what a kill interrupts;
 * they also erase the user's traces, and remove what was registered meanwhile. Can be repeated. `isErased`: the traces in
 * messages, deliveries and files, too.
 */
export const deleteUser =
  (deps: DeleteUserDeps) =>
  async (user: UserRow, { isErased }: Manner = { isErased: false }): Promise<void> => {
    const removal = await removeAsWritten(deps, user, { isErased });
    await deps.subscriptions.removeOfUser(user, removal.keys);
    deps.publish(removal);
  };

type Manner = { isErased: boolean };

const attempts = 5; // each lost to a change of the user: then the user goes as found last

/** What is written down shows the user at the time of deletion: the ids to erase, and those that the event names. */
const removeAsWritten = async (
  deps: DeleteUserDeps,
  read: UserRow,
  manner: Manner,
  attempt = 1,
): Promise<RemovalRow> => {
  const { removals, users, subscriptions, clock } = deps;
  const { _id, revision } = read;
  const of = ofRow(read);
  const removal = userRemoval(read, await subscriptions.ofUser(of, _id), clock.now(), manner.isErased);
  for (const one of [removal, ...mergedRemovals(read, removal)]) await removals.begin(one);
  if (await users.remove(of.tenantId, _id, attempt < attempts ? { revision } : {})) return removal;
  const changed = await users.find(of, "user_id", _id);
  return changed?._id !== _id ? removal : removeAsWritten(deps, changed, manner, attempt + 1);
};
