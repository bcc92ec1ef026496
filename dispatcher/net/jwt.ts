import { createPrivateKey, type KeyObject, sign } from "node:crypto";

export type JwtKey = { key: KeyObject; algorithm: "ES256" | "RS256" };

const keyTypes = { ES256: "ec", RS256: "rsa" } as const;

/** The private key of an account; null when it cannot be read or is of another kind. The parser's words could quote it. */
export const jwtKey = (privateKeyPem: string, algorithm: JwtKey["algorithm"]): JwtKey | null => {
  try {
    const key = createPrivateKey(privateKeyPem);
    return key.asymmetricKeyType === keyTypes[algorithm] ? { key, algorithm } : null;
  } catch {
    return null;
  }
};

/** A signed JWT. An ES256 signature is the 64 bytes of RFC 7518 3.4, never DER. */
export const signJwt = ({ key, algorithm }: JwtKey, header: object, claims: object): string => {
  const text = `${encode({ alg: algorithm, ...header })}.${encode(claims)}`;
  return `${text}.${sign("sha256", Buffer.from(text), { key, dsaEncoding: "ieee-p1363" }).toString("base64url")}`;
};

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString("base64url");
