import { createPublicKey, type KeyObject, verify } from "node:crypto";

export type CheckedToken = { header: Record<string, unknown>; claims: Record<string, unknown> };

/** Reads a JWT and checks its signature with the key that belongs to its header; null when anything is wrong with it. */
export const checkJwt = (
  token: string,
  keyFor: (header: Record<string, unknown>) => KeyObject | null,
): CheckedToken | null => {
  const [head = "", claims = "", signature = ""] = token.split(".");
  const parsed = { header: parse(head), claims: parse(claims) };
  if (parsed.header === null || parsed.claims === null) return null;
  const key = keyFor(parsed.header);
  if (key === null) return null;
  const signed = Buffer.from(`${head}.${claims}`);
  const isGood = verify("sha256", signed, { key, dsaEncoding: "ieee-p1363" }, Buffer.from(signature, "base64url"));
  return isGood ? { header: parsed.header, claims: parsed.claims } : null;
};

/** A public key from its PEM. */
export const publicKey = (pem: string): KeyObject => createPublicKey(pem);

const parse = (part: string): Record<string, unknown> | null => {
  try {
    return JSON.parse(Buffer.from(part, "base64url").toString("utf8")) as Record<string, unknown>; // members are checked one by one
  } catch {
    return null;
  }
};
