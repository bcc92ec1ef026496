import { hash, type KeyObject } from "node:crypto";
import { errors, type JWSHeaderParameters, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { checkAddress, contactKey } from "#core/channels/addresses.ts";
import { settingOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { identityKey } from "#core/domain/devices/identity-keys.ts";
import { AppError } from "#core/errors.ts";
import { userLimits } from "#core/schema/people/user.ts";
import { identityAlgorithms } from "#core/schema/vocabulary/identity-algorithms.ts";
import type { IdentityFault } from "#core/schema/vocabulary/refusal-reasons.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";

/** For whom the app's server vouches: `aliases` are other ids that it says of them, `addresses` the keys of those that it grants. */
export type Identity = {
  externalId: string;
  aliases: ReadonlyMap<string, string>;
  addresses: ReadonlySet<string>;
  expiresAtMs: number;
};

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
  const known = new LRUCache<string, Identity>({ max: mostCached, ttl: cachedMs });
  return async (app, token) => {
    const name = `${app._id} ${app.updated_at.getTime()} ${hash("sha256", token)}`;
    const nowMs = clock.now().getTime();
    const cached = known.get(name);
    if (cached !== undefined && nowMs < cached.expiresAtMs) return cached;
    const verified = await verify(app, token, clock.now());
    known.set(name, verified);
    return verified;
  };
};

const verify = async (app: AppRow, token: string, now: Date): Promise<Identity> => {
  const keys = settingOf(app, "identity_keys");
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

const identityIn = ({ exp = 0, iat = 0, identity, subscriptions }: JWTPayload, nowSeconds: number): Identity => {
  if (iat > nowSeconds + leewaySeconds) throw identityRefused("not_yet_valid", "`iat` is in the future");
  if (exp > nowSeconds + longestSeconds + leewaySeconds)
    throw identityRefused("malformed", "`exp` is more than 7 days ahead");
  const ids = new Map<string, unknown>(
    typeof identity === "object" && identity !== null ? Object.entries(identity) : [],
  );
  const externalId = ids.get("external_id");
  if (typeof externalId !== "string" || externalId === "")
    throw identityRefused("malformed", "`identity.external_id` is missing");
  ids.delete("external_id");
  if (ids.size > userLimits.aliases) throw identityRefused("malformed", "`identity` has too many ids");
  const aliases = new Map([...ids].map(([label, id]) => [label, textOf(label, id)]));
  return { externalId, aliases, addresses: addressesIn(subscriptions), expiresAtMs: (exp + leewaySeconds) * 1_000 };
};

/** Addresses that the app's server says are theirs; of what cannot be one nothing follows. */
const addressesIn = (subscriptions: unknown): Set<string> => {
  if (subscriptions === undefined) return new Set();
  if (!Array.isArray(subscriptions) || subscriptions.length > userLimits.subscriptions)
    throw identityRefused("malformed", "`subscriptions` is no list, or too long");
  return new Set(
    subscriptions.flatMap((one: unknown) => {
      if (typeof one !== "object" || one === null) throw identityRefused("malformed", "`subscriptions` has no objects");
      const { type, token } = one as { type?: unknown; token?: unknown };
      const channel = type === "Email" ? "email" : type === "SMS" ? "sms" : null;
      if (channel === null || typeof token !== "string") return [];
      const checked = checkAddress(channel, token);
      return checked.ok ? [contactKey(channel, checked.address)] : [];
    }),
  );
};

const textOf = (label: string, id: unknown): string => {
  if (typeof id === "string") return id;
  throw identityRefused("malformed", `\`identity.${label.slice(0, 64)}\` is no text`);
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
