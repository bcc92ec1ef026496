/** Why an API key is refused. Source: docs/reference/requests.md#authentication. */
export const keyFaults = ["missing", "invalid", "revoked", "expired"] as const;
export type KeyFault = (typeof keyFaults)[number];

/** Why an identity token is not accepted. Source: docs/reference/devices.md#identity-tokens. */
export const identityFaults = [
  "missing",
  "malformed",
  "algorithm",
  "unknown_key",
  "signature",
  "issuer",
  "expired",
  "not_yet_valid",
  "subscription_not_granted",
  "identity_mismatch",
] as const;
export type IdentityFault = (typeof identityFaults)[number];
