import { type Hash, hashOf, isToken } from "#core/domain/api-keys/hashes.ts";
import type { ApiKeySpec } from "#core/schema/api-keys/resource.ts";
import type { ApiKeyRow } from "#core/storage/api-keys/api-keys.ts";
import type { OwnSecret } from "../../kube/secrets.ts";
import { isReplacementDue } from "./rotation.ts";

export type KeySituation = {
  spec: Pick<ApiKeySpec, "rotation" | "expiresAt">;
  /** Value of the annotation by which a person asks for another token. */
  asked: string | undefined;
  uid: string;
  /** Whether a pass for the key's tenant has once come to its end. */
  isMade: boolean;
  row: ApiKeyRow | null;
  before: OwnSecret;
  now: Date;
};

/** `inUse`: the token in the Secret, when it may stay; `known`: hashes of the tokens that somebody has and may use. */
export type KeyTokens = { inUse: string | null; known: Hash[] };

/** Which of a key's tokens stay valid. Those of a revoked key do not. */
export const keyTokensOf = (at: KeySituation): KeyTokens => {
  const { spec, asked, isMade, row, before, now } = at;
  if (row !== null && row.revoked_at !== null) return nothing;
  if (before.kind !== "own") return isMade ? nothing : { inUse: null, known: knownIn(at, "") };
  const { token = "" } = before.values;
  // a token that a new key does not know may be a former tenant's of the namespace
  if (!isMade && !isTokenOf(row, token)) return nothing;
  if (!isToken(token)) return { inUse: null, known: row?.hashes ?? [] };
  const isDue = isReplacementDue({ spec, asked, rotatedFor: before.rotatedFor, token, stored: row, now });
  return { inUse: isDue ? null : token, known: knownIn(at, token) };
};

export const isTokenOf = (row: ApiKeyRow | null, token = ""): boolean =>
  row?.hashes.some(({ hash }) => hash === hashOf(token)) ?? false;

const nothing: KeyTokens = { inUse: null, known: [] };

/**
 * The hashes in the record whose tokens somebody has. A first hash that this resource wrote, and whose token is not in
 * the Secret, was lost in a crash, unless a person wrote another token there: that replaces it, as a rotation does.
 */
const knownIn = ({ row, uid }: KeySituation, inSecret: string): Hash[] => {
  const isEdited = inSecret !== "" && !isTokenOf(row, inSecret);
  const isOwn = row?.managed?.uid === uid && !isEdited;
  return (row?.hashes ?? []).filter(({ hash }, at) => at > 0 || !isOwn || hash === hashOf(inSecret));
};
