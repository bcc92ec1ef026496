import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, unusable } from "#core/domain/messages/outcome.ts";
import { notAnswered, type Transport, type TransportRequest, type TransportResult } from "./transport.ts";

/** What an access token is asked for with. Source: RFC 6749 4. */
export type Grant = { path: string; form: Record<string, string> };

export type AccessTokensDeps = {
  /** Made anew for each request: it may be signed and dated. An outcome says why there can be none. */
  grant: (now: Date) => Grant | Outcome;
  transport: Transport;
  clock: Clock;
};

export type AccessTokens = ReturnType<typeof accessTokens>;

export type Granted = { kind: "token"; value: string; renewAtMs: number };

/** The access tokens of one account, each used until shortly before it expires. */
export const accessTokens = ({ grant, transport, clock }: AccessTokensDeps) => {
  let known: Granted | null = null;
  let asking: Promise<Granted | Outcome> | null = null;
  const ask = async (): Promise<Granted | Outcome> => {
    const asked = grant(clock.now());
    if ("kind" in asked) return asked;
    const granted = read(await transport.request(requestOf(asked)), clock.now());
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

const renewBeforeMs = 300_000;
const timeoutMs = 10_000;

const requestOf = ({ path, form }: Grant): TransportRequest => ({
  path,
  headers: { "content-type": "application/x-www-form-urlencoded" },
  body: new URLSearchParams(form).toString(),
  timeoutMs,
  signal: AbortSignal.timeout(timeoutMs * 2), // shared by all who wait, so that none of them can stop it
});

/** No push is under way yet, so a broken link leaves nothing uncertain. */
const read = (result: TransportResult, now: Date): Granted | Outcome => {
  if (result.kind !== "answer") return notAnswered({ kind: "not_sent", reason: `access token: ${result.reason}` }, now);
  if (result.status === 429 || result.status >= 500)
    return notAnswered({ kind: "not_sent", reason: `access token: answered with ${result.status}` }, now);
  const { access_token, expires_in } = parse(result.body);
  if (result.status !== 200 || typeof access_token !== "string" || typeof expires_in !== "number")
    return unusable(`the account was refused an access token with status ${result.status}`);
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
