import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, unusable } from "#core/domain/messages/outcome.ts";
import { type JwtKey, jwtKey, signJwt } from "./jwt.ts";
import { notAnswered, type Transport, type TransportResult } from "./transport.ts";

export type ServiceAccount = { clientEmail: string; tokenUri: string; privateKeyPem: string };

export type GoogleTokenDeps = { account: ServiceAccount; transport: Transport; clock: Clock };

const scope = "https://www.googleapis.com/auth/firebase.messaging";
const grant = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const assertionLifeSeconds = 3600; // the most that Google admits
const renewBeforeMs = 300_000;
const timeoutMs = 10_000;

/** Access tokens of a service account. Source: Google, "Using OAuth 2.0 for server to server applications"; RFC 7523. */
export const googleToken = ({ account, transport, clock }: GoogleTokenDeps) => {
  const key = jwtKey(account.privateKeyPem, "RS256");
  let known: Granted | null = null;
  let asking: Promise<Granted | Outcome> | null = null;
  const ask = async (): Promise<Granted | Outcome> => {
    if (key === null) return unusable("the private key is not an RSA key in PEM form");
    const result = await transport.request(grantRequest(account, key, clock.now()));
    const granted = read(result, clock.now());
    if (granted.kind === "token") known = granted;
    return granted;
  };
  const usable = (): Granted | null => (known !== null && clock.now().getTime() < known.renewAtMs ? known : null);
  return {
    /** The access token, when there is one that can be used. */
    known: usable,
    /** The access token to send with, or why there is none. Calls at the same time share one request. */
    current: (): Promise<Granted | Outcome> => {
      const granted = usable();
      if (granted !== null) return Promise.resolve(granted);
      asking ??= ask().finally(() => {
        asking = null;
      });
      return asking;
    },
    /** Forgets this token when it is still the current one. */
    refused: (value: string): void => {
      if (known?.value === value) known = null;
    },
  };
};

export type Granted = { kind: "token"; value: string; renewAtMs: number };

const grantRequest = ({ clientEmail, tokenUri }: ServiceAccount, key: JwtKey, now: Date) => {
  const iat = Math.floor(now.getTime() / 1000);
  const claims = { iss: clientEmail, scope, aud: tokenUri, iat, exp: iat + assertionLifeSeconds };
  const { pathname, search } = new URL(tokenUri);
  return {
    path: pathname + search,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ grant_type: grant, assertion: signJwt(key, { typ: "JWT" }, claims) }).toString(),
    timeoutMs,
    signal: AbortSignal.timeout(timeoutMs * 2), // shared by all who wait, so that none of them can stop it
  };
};

/** No push is under way yet, so a broken link leaves nothing uncertain. */
const read = (result: TransportResult, now: Date): Granted | Outcome => {
  if (result.kind !== "answer") return notAnswered({ kind: "not_sent", reason: `access token: ${result.reason}` }, now);
  if (result.status === 429 || result.status >= 500)
    return notAnswered({ kind: "not_sent", reason: `access token: answered with ${result.status}` }, now);
  const { access_token, expires_in } = parse(result.body);
  if (result.status !== 200 || typeof access_token !== "string" || typeof expires_in !== "number")
    return unusable(`the service account was refused an access token with status ${result.status}`);
  const lifeMs = expires_in * 1000;
  return {
    kind: "token",
    value: access_token,
    renewAtMs: now.getTime() + Math.max(lifeMs - renewBeforeMs, lifeMs / 2),
  };
};

const parse = (body: string): { access_token?: unknown; expires_in?: unknown } => {
  try {
    return JSON.parse(body) as { access_token?: unknown; expires_in?: unknown }; // members are checked by the caller
  } catch {
    return {};
  }
};
