import type { Clock } from "#core/domain/clock.ts";
import { AppError, NotFound } from "#core/errors.ts";
import type { UpdateUser } from "#core/schema/user.ts";
import type { UserRow, Users } from "#core/storage/users.ts";
import { aliasClaimed } from "./upsert-user.ts";
import { changeOf } from "./user-change.ts";
import { checkUser } from "./user-checks.ts";

export type UpdateUserDeps = {
  users: Pick<Users, "find" | "findAll" | "update">;
  nameOwner: (user: UserRow) => Promise<void>;
  clock: Clock;
};

const attempts = 5; // each lost to another writer of the same user's ids

/** Changes a user. An id that another user has is a conflict. */
export const updateUser =
  (deps: UpdateUserDeps) =>
  async (found: UserRow, body: UpdateUser): Promise<UserRow> => {
    checkUser(body);
    const change = (read: UserRow) => changeOf(read, body, deps.clock.now());
    let user: UserRow | null = found;
    for (let attempt = 0; attempt < attempts; attempt++) {
      if (user === null) throw new NotFound("user");
      await requireFree(deps, user, change(user).whole.alias_keys); // bounds come before: decisions 9.3
      const changed = await deps.users.update(user.tenant_id, user, (now) => change(now).update);
      if (changed !== null) {
        if (changed.external_id !== user.external_id) await deps.nameOwner(changed);
        return changed;
      }
      user = await deps.users.find(user.tenant_id, user.app_id, "user_id", user._id);
    }
    throw new AppError("HS_CONFLICT", "the user is being changed by others at the same moment", { status: "busy" });
  };

const requireFree = async ({ users }: UpdateUserDeps, user: UserRow, wanted: readonly string[]): Promise<void> => {
  const gained = wanted.filter((key) => !user.alias_keys.includes(key));
  if (gained.length === 0) return;
  const [owner] = await users.findAll(user.tenant_id, user.app_id, gained);
  if (owner !== undefined) throw aliasClaimed(owner, gained);
};
