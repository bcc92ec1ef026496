import type { Clock } from "#core/domain/clock.ts";
import { type ApiKeyRow, type ApiKeys, apiKeyCollection } from "#core/storage/api-keys/api-keys.ts";
import type { RevokedTokens } from "#core/storage/api-keys/revoked-tokens.ts";
import type { Changes } from "#core/storage/directory.ts";
import { cached } from "#core/storage/settings/cached.ts";

export type KeyLookupDeps = {
  keys: Pick<ApiKeys, "findByHash">;
  revoked: Pick<RevokedTokens, "has">;
  changes: Changes;
  clock: Clock;
};

/** `revoked`: the token worked once; its key is gone, or has others now. */
export type FoundKey = ApiKeyRow | "revoked" | null;

const keptMs = 30_000; // a revoked key stops within 60 s: docs/reference/requests.md#authentication

/** Finds keys by the SHA-256 of their token. Known ones are kept for 30 s, or until they are announced as changed. */
export const keyLookup = ({ keys, revoked, changes, clock }: KeyLookupDeps) => {
  const load = async (hash: string): Promise<FoundKey> =>
    (await keys.findByHash(hash)) ?? ((await revoked.has(hash)) ? "revoked" : null);
  const kept = cached({ load, ttlMs: keptMs, max: 10_000, clock });
  changes.on((collection, id) => {
    if (collection === "*" || (collection === apiKeyCollection.name && id === "*")) kept.clear();
    else if (collection === apiKeyCollection.name) kept.dropIf(isKey(id)); // kept by hash
  });
  return async (hash: string): Promise<FoundKey> => {
    const key = await kept.get(hash);
    if (key === null) kept.drop(hash); // a key works as soon as it is made
    return key;
  };
};

const isKey =
  (id: string) =>
  (found: FoundKey): boolean =>
    found !== null && found !== "revoked" && found._id === id;
