/** Algorithms that identity tokens may be signed with: never by a shared secret. Source: RFC 7518 3.1, RFC 8037. */
export const identityAlgorithms = ["ES256", "EdDSA", "RS256"] as const;
export type IdentityAlgorithm = (typeof identityAlgorithms)[number];
