import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Clock } from "#core/domain/clock.ts";
import { jwtKey, signJwt } from "../../net/jwt.ts";

/** What signs for a team. The same three give the same token, whichever app asks. */
export type ApnsSigner = { teamId: string; keyId: string; privateKeyPem: string };

export type ApnsTokens = ReturnType<typeof apnsTokens>;

const renewAfterMs = 40 * 60_000; // Apple: at least every 60 minutes, at most every 20
const leastAgeMs = 60_000; // of a refused token, before another is signed for it
const maxTokens = 1000; // signers at once; the one longest unused is dropped, and signed again when needed

type Token = { value: string; signedAtMs: number };

/**
 * One provider token a team and key, shared by all their apps: APNs answers 429 TooManyProviderTokenUpdates to teams
 * that change it often. Source: Apple, "Establishing a token-based connection to APNs".
 */
export const apnsTokens = (clock: Clock) => {
  const tokens = new LRUCache<string, Token>({ max: maxTokens });
  const make = (signer: ApnsSigner): string | null => {
    const signedAtMs = clock.now().getTime();
    const value = signed(signer, signedAtMs);
    if (value === null) return null;
    tokens.set(idOf(signer), { value, signedAtMs });
    return value;
  };
  const ageMs = ({ signedAtMs }: Token): number => Math.abs(clock.now().getTime() - signedAtMs);
  return {
    /** The token to send with; null when the key cannot sign. */
    current: (signer: ApnsSigner): string | null => {
      const token = tokens.get(idOf(signer));
      return token !== undefined && ageMs(token) < renewAfterMs ? token.value : make(signer);
    },
    /** Another token than the refused one; null when that one was made only just now, so that a new one helps nothing. */
    renewed: (signer: ApnsSigner, refused: string): string | null => {
      const token = tokens.get(idOf(signer));
      if (token !== undefined && token.value !== refused) return token.value;
      return token !== undefined && ageMs(token) < leastAgeMs ? null : make(signer);
    },
  };
};

/** With the key's hash: who knows only the names of another's team and key gets none of their tokens. */
const ids = new WeakMap<ApnsSigner, string>();
const idOf = (signer: ApnsSigner): string => {
  const known = ids.get(signer);
  if (known !== undefined) return known;
  const id = [signer.teamId, signer.keyId, hash("sha256", signer.privateKeyPem)].join(" ");
  ids.set(signer, id);
  return id;
};

const signed = ({ teamId, keyId, privateKeyPem }: ApnsSigner, nowMs: number): string | null => {
  const key = jwtKey(privateKeyPem, "ES256");
  return key === null ? null : signJwt(key, { kid: keyId }, { iss: teamId, iat: Math.floor(nowMs / 1000) });
};
