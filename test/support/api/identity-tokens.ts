import { generateKeyPairSync } from "node:crypto";
import { SignJWT } from "jose";
import type { IdentityAlgorithm } from "#core/schema/vocabulary/identity-algorithms.ts";

/** What an app's server has: the key that its app is told, and what signs identity tokens with the other half of it. */
export const identitySigner = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const alg: IdentityAlgorithm = "ES256";
  return {
    key: { kid: "one", alg, public_key: publicKey.export({ type: "spki", format: "pem" }).toString() },
    sign: (appId: string, identity: Readonly<Record<string, unknown>>, claims: object = {}): Promise<string> => {
      const exp = Math.floor(Date.now() / 1_000) + 600;
      return new SignJWT({ iss: appId, exp, identity, ...claims })
        .setProtectedHeader({ alg, kid: "one" })
        .sign(privateKey);
    },
  };
};
