import { hash, type KeyObject } from "node:crypto";
import { errors, type JWSHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { identityKey } from "#core/domain/devices/identity-keys.ts";
import { AppError } from "#core/errors.ts";
import { identityAlgorithms } from "#core/schema/vocabulary/identity-algorithms.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";

/** For whom the app's server vouches. */
export type Identity = { externalId: string };

/** Why an identity token is not accepted. Source: docs/reference/devices.md#identity-tokens. */
export type IdentityFault =
  | "missing"
  | "malformed"
  | "algorithm"
  | "unknown_key"
  | "signature"
  | "issuer"
  | "expired"
  | "not_yet_valid"
  | "identity_mismatch";

export const identityRefused = (reason: IdentityFault, message: string): AppError =>
  new AppError("HS_IDENTITY_TOKEN_INVALID", message, { reason });

export type VerifyIdentity = (app: AppRow, token: string) => Promise<Identity>;

const leewaySeconds = 60;
const longestSeconds = 7 * 86_400;
const mostCached = 10_000;
const cachedMs = 60_000;

/**
 * Verifies an identity token by the keys of its app: a JWT (RFC 7519) that the app's server has signed. One that was verified is
 * believed for a minute, while the app's keys stay. @throws AppError HS_IDENTITY_TOKEN_INVALID with the reason
 */
export const verifyIdentity = (clock: Clock): VerifyIdentity => {
  const known = new LRUCache<string, Identity & { expiresAtMs: number }>({ max: mostCached, ttl: cachedMs });
  return async (app, token) => {
    const name = `${app._id} ${app.updated_at.getTime()} ${hash("sha256", token)}`;
    const nowMs = clock.now().getTime();
    const cached = known.get(name);
    if (cached !== undefined && nowMs < cached.expiresAtMs) return cached;
    const { externalId, expiresAtMs } = await verify(app, token, clock.now());
    known.set(name, { externalId, expiresAtMs });
    return { externalId };
  };
};

const verify = async (app: AppRow, token: string, now: Date): Promise<Identity & { expiresAtMs: number }> => {
  const keys = settingsOf(app).identity_keys;
  const keyOf = (header: JWSHeaderParameters): KeyObject => {
    const { kid, alg } = header;
    const found = kid === undefined && keys.length === 1 ? keys[0] : keys.find((one) => one.kid === kid);
    if (found === undefined) throw identityRefused("unknown_key", "the app has no key of this `kid`");
    if (found.alg !== alg) throw identityRefused("algorithm", `the key ${found.kid} signs with ${found.alg}`);
    const key = identityKey(found.public_key, found.alg);
    if (typeof key === "string") throw new Error(`a key that was accepted ${key}`);
    return key;
  };
  const options = {
    algorithms: [...identityAlgorithms],
    issuer: app._id,
    clockTolerance: leewaySeconds,
    currentDate: now,
  };
  try {
    const { payload } = await jwtVerify(token, keyOf, { ...options, requiredClaims: ["exp"] });
    return identityIn(payload, Math.floor(now.getTime() / 1_000));
  } catch (error) {
    throw error instanceof AppError ? error : refusalOf(error);
  }
};

const identityIn = ({ exp = 0, iat = 0, identity }: JWTPayload, nowSeconds: number) => {
  if (iat > nowSeconds + leewaySeconds) throw identityRefused("not_yet_valid", "`iat` is in the future");
  if (exp > nowSeconds + longestSeconds + leewaySeconds)
    throw identityRefused("malformed", "`exp` is more than 7 days ahead");
  const externalId =
    typeof identity === "object" && identity !== null ? Reflect.get(identity, "external_id") : undefined;
  if (typeof externalId !== "string" || externalId === "")
    throw identityRefused("malformed", "`identity.external_id` is missing");
  return { externalId, expiresAtMs: (exp + leewaySeconds) * 1_000 };
};

/** In our words: what a library says may quote the token. */
const refusalOf = (error: unknown): AppError => {
  if (error instanceof errors.JWTExpired) return identityRefused("expired", "the token has expired");
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === "iss") return identityRefused("issuer", "`iss` must be the id of the app");
    if (error.claim === "nbf") return identityRefused("not_yet_valid", "`nbf` is in the future");
    return identityRefused("malformed", `\`${error.claim}\` is missing, or is no claim of its kind`);
  }
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return identityRefused("signature", "the signature is not that of the app's key");
  if (error instanceof errors.JOSEAlgNotAllowed)
    return identityRefused("algorithm", `the algorithm must be one of ${identityAlgorithms.join(", ")}`);
  if (error instanceof errors.JOSEError) return identityRefused("malformed", "the token is no signed JWT");
  throw error;
};
