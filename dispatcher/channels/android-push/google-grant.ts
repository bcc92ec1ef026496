import { type Outcome, unusable } from "#core/domain/messages/outcome.ts";
import { jwtKey, signJwt } from "../../net/jwt.ts";
import type { Grant } from "../../net/oauth.ts";

export type ServiceAccount = { clientEmail: string; tokenUri: string; privateKeyPem: string };

const scope = "https://www.googleapis.com/auth/firebase.messaging";
const assertionLifeSeconds = 3600; // the most that Google admits

/** What a service account asks for access tokens with. Source: Google, "Using OAuth 2.0 for server to server applications"; RFC 7523. */
export const googleGrant = ({
  clientEmail,
  tokenUri,
  privateKeyPem,
}: ServiceAccount): ((now: Date) => Grant | Outcome) => {
  const key = jwtKey(privateKeyPem, "RS256");
  return (now) => {
    if (key === null) return unusable("the private key is not an RSA key in PEM form");
    const iat = Math.floor(now.getTime() / 1000);
    const claims = { iss: clientEmail, scope, aud: tokenUri, iat, exp: iat + assertionLifeSeconds };
    const assertion = signJwt(key, { typ: "JWT" }, claims);
    const { pathname, search } = new URL(tokenUri);
    return { path: pathname + search, form: { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion } };
  };
};
