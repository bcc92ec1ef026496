import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { ApiKeyRow, ApiKeys } from "#core/storage/api-keys/api-keys.ts";
import type { By } from "../settings/audit.ts";
import type { Things } from "../settings/settings.ts";
import { laterThan } from "../settings/write-as-is.ts";

export type SafeChangeDeps = {
  keys: Pick<ApiKeys, "ofTenant"> & { owned: Pick<ApiKeys["owned"], "change"> };
  kept: Pick<Things<ApiKeyRow>, "write" | "attempt">;
  clock: Clock;
};

export const mostListed = 1_000; // those of resources are not counted

/**
 * Changes a key unless nobody could change keys then. Another key that can is written to first, with the values that it
 * has: whoever has read it to take it away reads all of it again. So two that take away one another's are not both right,
 * and a kill between the two writes leaves both keys as they are.
 * @throws AppError HS_CONFLICT
 */
export const safeChange =
  ({ keys, kept, clock }: SafeChangeDeps) =>
  (by: By, verb: string, found: ApiKeyRow, change: ChangeOf): Promise<ApiKeyRow> =>
    kept.write(found, async (row) => {
      const [set, now] = [change(row), clock.now()];
      const endsAdmin = isAdmin(row, now) && !isAdmin({ ...row, ...set }, now);
      if (endsAdmin && !(await keepsAnother(keys, row, now))) return null;
      return kept.attempt(by, verb, row, { set });
    });

/** Makes sure that another key can change keys, and goes on doing so; false when another change was quicker. */
const keepsAnother = async (keys: SafeChangeDeps["keys"], row: ApiKeyRow, now: Date): Promise<boolean> => {
  const all = await keys.ofTenant(row.tenant_id, mostListed);
  const other = all.find((key) => key._id !== row._id && isAdmin(key, now));
  if (other === undefined) throw lastAdminKey();
  return (await keys.owned.change(other, { set: { updated_at: laterThan(other.updated_at, now) } })) !== null;
};

type ChangeOf = (row: ApiKeyRow) => Partial<ApiKeyRow>;

const lastAdminKey = (): AppError =>
  new AppError("HS_CONFLICT", "the organisation would have no key with the scope admin for all of its apps", {
    status: "last_admin_key",
  });

/** Whether a key can change keys. */
const isAdmin = ({ scopes, app_ids: apps, revoked_at: revokedAt, hashes }: ApiKeyRow, now: Date): boolean =>
  scopes.includes("admin") &&
  apps === null &&
  revokedAt === null &&
  hashes.some(({ expires_at: end }) => end === null || end > now);
