import type { Clock } from "#core/domain/clock.ts";
import { AppError } from "#core/errors.ts";
import type { ApiKeyRow, ApiKeys } from "#core/storage/api-keys/api-keys.ts";
import type { By } from "../settings/audit.ts";
import type { Things } from "../settings/settings.ts";

export type SafeChangeDeps = { keys: Pick<ApiKeys, "ofTenant">; kept: Pick<Things<ApiKeyRow>, "change">; clock: Clock };

export const mostListed = 1_000; // those of resources are not counted

/**
 * Changes a key, and takes that back when nobody could change keys then: two that do so at once are both refused.
 * @throws AppError HS_CONFLICT
 */
export const safeChange =
  ({ keys, kept, clock }: SafeChangeDeps) =>
  async (by: By, verb: string, found: ApiKeyRow, change: ChangeOf): Promise<ApiKeyRow> => {
    let former: Partial<ApiKeyRow> = {};
    const changed = await kept.change(by, verb, found, (row) => {
      const set = change(row);
      former = formerOf(row, set);
      return { set };
    });
    const now = clock.now();
    const all = isAdmin(changed, now) ? [changed] : await keys.ofTenant(found.tenant_id, mostListed);
    if (all.some((key) => isAdmin(key, now))) return changed;
    await kept.change(by, "restored", changed, () => ({ set: former }));
    throw new AppError("HS_CONFLICT", "the organisation would have no key with the scope admin for all of its apps", {
      status: "last_admin_key",
    });
  };

type ChangeOf = (row: ApiKeyRow) => Partial<ApiKeyRow>;

/** The values that a change replaces. */
const formerOf = (row: ApiKeyRow, set: Partial<ApiKeyRow>): Partial<ApiKeyRow> =>
  Object.fromEntries(Object.keys(set).map((member) => [member, Reflect.get(row, member) ?? null]));

/** Whether a key can change keys. */
const isAdmin = ({ scopes, app_ids: apps, revoked_at: revokedAt, hashes }: ApiKeyRow, now: Date): boolean =>
  scopes.includes("admin") &&
  apps === null &&
  revokedAt === null &&
  hashes.some(({ expires_at: end }) => end === null || end > now);
