import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import type { IdentityAlgorithm } from "../../schema/vocabulary/identity-algorithms.ts";

/**
 * The public key that a text is, as PEM or as a JWK; a text says what is wrong with it. A private key is refused: it belongs
 * to the app's server alone. Source: RFC 7517, RFC 7518 6; docs/reference/devices.md#identity-tokens.
 */
export const identityKey = (text: string, alg: IdentityAlgorithm): KeyObject | string => {
  if (/PRIVATE KEY/.test(text) || /"d"\s*:/.test(text)) return "is a private key: only the public one belongs here";
  const key = publicKeyOf(text.trim());
  if (key === null) return "must be a public key, in PEM or as a JWK";
  return problemOf(key, alg) ?? key;
};

const publicKeyOf = (text: string): KeyObject | null => {
  try {
    if (!text.startsWith("{")) return createPublicKey(text);
    return createPublicKey({ key: JSON.parse(text) as JsonWebKey, format: "jwk" }); // what is no key is thrown
  } catch {
    return null; // the cause may quote it
  }
};

const problemOf = ({ asymmetricKeyType: type, asymmetricKeyDetails: details }: KeyObject, alg: IdentityAlgorithm) => {
  if (alg === "ES256")
    return type === "ec" && details?.namedCurve === "prime256v1" ? null : "must be an EC key of curve P-256, for ES256";
  if (alg === "EdDSA") return type === "ed25519" ? null : "must be an Ed25519 key, for EdDSA";
  return type === "rsa" && (details?.modulusLength ?? 0) >= 2048 ? null : "must be an RSA key of 2048 bits, for RS256";
};
