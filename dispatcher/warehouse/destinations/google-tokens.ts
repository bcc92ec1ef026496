import { BadSecret } from "#core/channels/kit/secret-text.ts";
import { serviceAccount } from "#core/channels/kit/service-account.ts";
import type { Clock } from "#core/domain/clock.ts";
import { jwtKey, signJwt } from "../../net/jwt.ts";
import { callStore } from "./calls.ts";
import { DestinationError } from "./destination.ts";
import { type GuardedDeps, guardedAgents } from "./guarded-agents.ts";

export type GoogleTokensDeps = GuardedDeps & { clock: Clock };

export type GoogleTokens = {
  /** The access token to call with. @throws DestinationError when the account gets none */
  current: (signal: AbortSignal) => Promise<string>;
  /** Forgets it: the store does not take it any more. */
  refused: () => void;
  close: () => void;
};

const scope = "https://www.googleapis.com/auth/devstorage.read_write";
const assertionLifeSeconds = 3_600; // the most that Google admits
const renewBeforeMs = 300_000;
const mostAnswerBytes = 65_536;

/**
 * Access tokens of a service account, for the store at `store`. Source: Google, "Using OAuth 2.0 for server to server
 * applications"; RFC 7523.
 * @throws DestinationError when the file is none of a service account, or names another server than Google's or the store
 */
export const googleTokens = (deps: GoogleTokensDeps, file: string, store: URL): GoogleTokens => {
  const account = accountOf(file);
  const url = new URL(account.token_uri);
  if (url.origin !== store.origin && !isGoogles(url))
    throw new DestinationError("AUTH", "the credentials' token_uri is not an address of googleapis.com");
  const agents = guardedAgents(deps, url);
  let known: { token: string; renewAtMs: number } | null = null;
  const ask = async (signal: AbortSignal): Promise<string> => {
    const now = deps.clock.now();
    const form = { grant_type: "urn:ietf:params:oauth:grant-type:jwt-bearer", assertion: assertionOf(account, now) };
    const answer = await callStore(
      agents,
      {
        method: "POST",
        url,
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams(form).toString(),
        mostBytes: mostAnswerBytes,
      },
      signal,
    );
    const { access_token: token, expires_in: seconds } = parse(answer.body);
    if (answer.status !== 200 || typeof token !== "string" || typeof seconds !== "number")
      throw new DestinationError(
        answer.status >= 500 || answer.status === 429 ? "NETWORK" : "AUTH",
        `the service account was refused an access token with status ${answer.status}`,
      );
    known = { token, renewAtMs: now.getTime() + Math.max(seconds * 1_000 - renewBeforeMs, seconds * 500) };
    return token;
  };
  return {
    current: async (signal) =>
      known !== null && deps.clock.now().getTime() < known.renewAtMs ? known.token : ask(signal),
    refused: () => void (known = null),
    close: agents.close,
  };
};

/** A tenant names the address: else they could have requests made to addresses inside the operator's network. */
const isGoogles = ({ protocol, port, hostname }: URL): boolean =>
  protocol === "https:" && port === "" && hostname.endsWith(".googleapis.com");

type Account = ReturnType<typeof serviceAccount>;

const accountOf = (file: string): Account => {
  try {
    return serviceAccount(file);
  } catch (error) {
    if (error instanceof BadSecret) throw new DestinationError("AUTH", `credentials_json ${error.message}`);
    throw error;
  }
};

const assertionOf = ({ client_email: iss, token_uri: aud, private_key: pem }: Account, now: Date): string => {
  const key = jwtKey(pem, "RS256");
  if (key === null) throw new DestinationError("AUTH", "the private key is not an RSA key in PEM form");
  const iat = Math.floor(now.getTime() / 1_000);
  return signJwt(key, { typ: "JWT" }, { iss, scope, aud, iat, exp: iat + assertionLifeSeconds });
};

const parse = (body: Buffer | null): { access_token?: unknown; expires_in?: unknown } => {
  try {
    return JSON.parse(body?.toString() ?? "") as { access_token?: unknown; expires_in?: unknown }; // members are checked by the caller
  } catch {
    return {};
  }
};
