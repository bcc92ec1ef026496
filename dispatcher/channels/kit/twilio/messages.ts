import type { TwilioCredentials } from "#core/channels/kit/twilio/account.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { Outcome, Provider } from "#core/domain/messages/outcome.ts";
import type { RestTransports } from "../../../net/guarded/rest.ts";
import { notAnswered, providerOrigin } from "../../../net/transport.ts";
import { twilioOutcome } from "./outcomes.ts";

export type TwilioDeps = {
  credentials: TwilioCredentials;
  /** `https://api.twilio.com`; https unless loopback. */
  baseUrl: string;
  rest: RestTransports;
  clock: Clock;
  timeoutMs?: number;
};

/** For one message, unless the program's grace is shorter: Twilio answers as soon as the message is queued. */
export const twilioTimeoutMs = 15_000;

/** Twilio gives up what it could not pass on by then, seconds. Source: Message resource, ValidityPeriod. */
const mostValiditySeconds = 36_000;

type Members = readonly (readonly [string, string])[];
type SendArguments = Parameters<Provider<never>["send"]>;
export type Cutting = [signal: SendArguments[2], isOver?: SendArguments[3]];

/**
 * Makes messages at Twilio, for every channel that it carries.
 * Source: twilio.com/docs/messaging/api/message-resource, "Create a Message".
 */
export const twilioMessages = ({ credentials, baseUrl, rest, clock, timeoutMs = twilioTimeoutMs }: TwilioDeps) => {
  const transport = rest.open({ origin: providerOrigin(baseUrl) });
  const path = `/2010-04-01/Accounts/${credentials.account_sid}/Messages.json`;
  const headers = { authorization: basicOf(credentials), "content-type": "application/x-www-form-urlencoded" };
  const create = async (members: Members, ...[signal, isOver]: Cutting): Promise<Outcome> => {
    const body = members.map(([name, value]) => `${name}=${encodeURIComponent(value.toWellFormed())}`).join("&");
    const result = await transport.request({ path, headers, body, timeoutMs, signal, isOver });
    const now = clock.now();
    if (result.kind !== "answer") return notAnswered(result, now);
    return twilioOutcome({ ...result, retryAfter: result.headers["retry-after"] }, now);
  };
  return {
    create,
    /** A message without a recipient: whoever may send is told that it is missing (21604). */
    check: (signal: AbortSignal): Promise<Outcome> => create([["Body", "Connection test"]], signal),
    close: transport.close,
  };
};

/** The member that has what is left of a ttl; none when it is more than Twilio waits anyhow. */
export const validity = (ttlSeconds: number): [string, string][] =>
  ttlSeconds >= mostValiditySeconds ? [] : [["ValidityPeriod", String(Math.max(1, ttlSeconds))]];

/** Of an API key where the account has one, else of the account itself. Source: twilio.com/docs/usage/requests-to-twilio. */
export const basicOf = (credentials: TwilioCredentials): string => {
  const {
    account_sid: accountSid,
    api_key_sid: keySid,
    auth_token: authToken,
    api_key_secret: keySecret,
  } = credentials;
  const [name, secret] = keySid !== null && keySecret !== null ? [keySid, keySecret] : [accountSid, authToken];
  return `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;
};
