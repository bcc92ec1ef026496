import type { Clock } from "#core/domain/clock.ts";
import type { UpdateUser } from "#core/schema/people/user.ts";
import { ofRow } from "#core/storage/mongo/collection.ts";
import type { UserRow, Users } from "#core/storage/people/users.ts";
import { writeAsIs } from "../settings/write-as-is.ts";
import { aliasClaimed } from "./upsert-user.ts";
import { changeOf } from "./user-change.ts";
import { checkUser } from "./user-checks.ts";

export type UpdateUserDeps = {
  users: Pick<Users, "find" | "findAll" | "update">;
  nameOwner: (user: UserRow) => Promise<void>;
  clock: Clock;
};

/** Changes a user. An id that another user has is a conflict. */
export const updateUser =
  (deps: UpdateUserDeps) =>
  async (found: UserRow, body: UpdateUser): Promise<UserRow> => {
    checkUser(body);
    const change = (read: UserRow) => changeOf(read, body, deps.clock.now());
    const { users, nameOwner } = deps;
    return writeAsIs({
      what: "user",
      found,
      reread: (read) => users.find(ofRow(read), "user_id", read._id),
      attempt: async (user) => {
        await requireFree(deps, user, change(user).whole.alias_keys); // bounds come before
        const changed = await users.update(user.tenant_id, user, (now) => change(now).update);
        if (changed !== null && changed.external_id !== user.external_id) await nameOwner(changed);
        return changed;
      },
    });
  };

const requireFree = async ({ users }: UpdateUserDeps, user: UserRow, wanted: readonly string[]): Promise<void> => {
  const gained = wanted.filter((key) => !user.alias_keys.includes(key));
  if (gained.length === 0) return;
  const [owner] = await users.findAll(ofRow(user), gained);
  if (owner !== undefined) throw aliasClaimed(owner, gained);
};
