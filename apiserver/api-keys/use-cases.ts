import { randomBytes } from "node:crypto";
import type { Db } from "mongodb";
import { hashOf, newToken } from "#core/domain/api-keys/hashes.ts";
import { AppError } from "#core/errors.ts";
import { type ApiKeyWithToken, type CreateApiKey, mostKeys, type UpdateApiKey } from "#core/schema/api-keys/api-key.ts";
import { type ApiKeyRow, apiKeys } from "#core/storage/api-keys/api-keys.ts";
import { revokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import { apps } from "#core/storage/apps/apps.ts";
import type { By } from "../settings/audit.ts";
import { requireUnmanaged } from "../settings/managed.ts";
import { type SettingsPlatform, things } from "../settings/settings.ts";
import { checkApiKey } from "./checks.ts";
import { rotateKey } from "./rotate.ts";
import { mostListed, safeChange } from "./safe-change.ts";
import { apiKeyView, withToken } from "./views.ts";

export type ApiKeyUse = ReturnType<typeof apiKeyUse>;

/** Makes, changes, rotates and deletes keys of an organisation. Source: docs/reference/api-keys.md. */
export const apiKeyUse = (platform: SettingsPlatform & { db: Db }) => {
  const { db, clock } = platform;
  const [keys, revoked] = [apiKeys(db), revokedTokens(db)];
  const check = checkApiKey({ findApp: apps(db).find, clock });
  const kept = things<ApiKeyRow, object>(platform, {
    what: "api key",
    store: keys.owned,
    appOf: () => null,
    view: apiKeyView,
    plan: { metric: "api_keys", most: mostKeys },
  });

  const changeSafely = safeChange({ keys, kept, clock });
  return {
    find: keys.find,
    view: apiKeyView,
    list: async (tenantId: string) => ({ data: (await keys.ofTenant(tenantId, mostListed)).map(apiKeyView) }),

    create: async (by: By, id: string, body: CreateApiKey): Promise<ApiKeyWithToken> => {
      const now = clock.now();
      await check(by, body);
      const token = newToken(randomBytes);
      const row = newKey(by, { id, token, body, now });
      return withToken(await kept.create(by, row), token);
    },

    /** What an attempt made that was cut short: nobody has its token, and it gets another. */
    made: async (by: By, id: string): Promise<ApiKeyWithToken | null> => {
      const row = await keys.find(by.caller.tenant._id, id);
      if (row === null) return null;
      const token = newToken(randomBytes);
      const hashes = [{ hash: hashOf(token), expires_at: row.hashes[0]?.expires_at ?? null }];
      return withToken(await kept.change(by, "rotated", row, () => ({ set: { hashes } })), token);
    },

    update: async (by: By, found: ApiKeyRow, { expires_at: end, ...body }: UpdateApiKey): Promise<ApiKeyRow> => {
      requireUnmanaged("api key", found, [...Object.keys(body), ...(end === undefined ? [] : ["expires_at"])]);
      await check(by, { ...body, ...(end !== undefined && { expires_at: end }) });
      return changeSafely(by, "updated", found, ({ hashes }) => ({
        ...body,
        ...(end !== undefined && {
          hashes: hashes.map((one, at) => (at === 0 ? { ...one, expires_at: dateOf(end) } : one)),
        }),
      }));
    },

    rotate: rotateKey({ revoked, kept, clock }),

    /** @throws AppError HS_CONFLICT for the caller's own key, and the last that can change keys */
    remove: async (by: By, found: ApiKeyRow): Promise<void> => {
      requireUnmanaged("api key", found);
      if (found._id === by.caller.key._id)
        throw new AppError("HS_CONFLICT", "a key cannot delete itself: use another", { status: "own_key" });
      const ended = await changeSafely(by, "revoked", found, () => ({ revoked_at: clock.now() }));
      await revoked.add([ended], clock.now());
      await kept.remove(by, ended);
    },
  };
};

type NewKey = { id: string; token: string; body: CreateApiKey; now: Date };

const newKey = ({ caller }: By, { id, token, body, now }: NewKey): ApiKeyRow => ({
  _id: id,
  tenant_id: caller.tenant._id,
  name: body.name,
  scopes: body.scopes,
  app_ids: body.app_ids ?? null,
  allowed_addresses: body.allowed_addresses ?? null,
  hashes: [{ hash: hashOf(token), expires_at: dateOf(body.expires_at) }],
  rotated_at: now,
  revoked_at: null,
  managed: null,
  created_at: now,
  updated_at: now,
});

const dateOf = (text: string | null | undefined): Date | null =>
  text === undefined || text === null ? null : new Date(text);
