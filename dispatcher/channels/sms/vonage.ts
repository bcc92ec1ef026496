import { randomUUID } from "node:crypto";
import type { SmsText } from "#core/channels/sms/render.ts";
import { senderFor } from "#core/channels/sms/sender.ts";
import type { Clock } from "#core/domain/clock.ts";
import { type Outcome, type Provider, type Recipient, unusable } from "#core/domain/messages/outcome.ts";
import { type RestTransports, restTakes } from "../../net/guarded/rest.ts";
import { type JwtKey, jwtKey, signJwt } from "../../net/jwt.ts";
import { notAnswered, providerOrigin, type TransportResult } from "../../net/transport.ts";
import { vonageOutcome } from "./vonage-outcomes.ts";

export type VonageAccount = { application_id: string; senders: readonly string[]; private_key: string };

export type VonageDeps = {
  account: VonageAccount;
  /** `https://api.nexmo.com`; https unless loopback. */
  baseUrl: string;
  /** Where Vonage tells the statuses of every delivery. */
  statusUrl: string;
  rest: RestTransports;
  clock: Clock;
  timeoutMs?: number;
};

/** For one message, unless the program's grace is shorter: Vonage answers as soon as the message is queued. */
export const vonageTimeoutMs = 15_000;

/** Sends SMS and MMS over Vonage's Messages API. Source: developer.vonage.com/en/api/messages, "Send a message". */
export const vonage = (deps: VonageDeps): Provider<SmsText> => {
  const { account, baseUrl, statusUrl, rest, clock, timeoutMs = vonageTimeoutMs } = deps;
  const transport = rest.open({ origin: providerOrigin(baseUrl) });
  const token = vonageTokens(account, clock);
  const post = async (message: object, ...[signal, isOver]: Cutting): Promise<TransportResult | null> => {
    const value = token();
    if (value === null) return null;
    const headers = { authorization: `Bearer ${value}`, "content-type": "application/json" };
    const body = JSON.stringify(message);
    return transport.request({ path: "/v1/messages", headers, body, timeoutMs, signal, isOver });
  };
  const outcomeOf = (result: TransportResult | null): Outcome => {
    if (result === null) return unusable("the private key is not an RSA key in PEM form");
    if (result.kind !== "answer") return notAnswered(result, clock.now());
    return vonageOutcome({ ...result, retryAfter: result.headers["retry-after"] }, clock.now());
  };
  const messageTo = (to: Recipient, message: SmsText): object => ({
    ...contentOf(message),
    to: withoutPlus(to.address),
    from: withoutPlus(message.from ?? senderFor(account.senders, to.address) ?? ""),
    client_ref: to.deliveryId,
    webhook_url: statusUrl,
    webhook_version: "v1",
    ttl: Math.min(Math.max(message.ttlSeconds, ttlSeconds.least), ttlSeconds.most),
  });
  return {
    name: "vonage",
    takes: restTakes,
    send: async (message, to, ...cutting) => outcomeOf(await post(messageTo(to, message), ...cutting)),
    check: async (signal) => {
      const result = await post({}, signal); // whoever may send is told that everything is missing
      const isTaken = result?.kind === "answer" && result.status === 422;
      return isTaken ? { kind: "sent", providerId: null } : outcomeOf(result);
    },
    close: transport.close,
  };
};

type SendArguments = Parameters<Provider<never>["send"]>;
type Cutting = [signal: SendArguments[2], isOver?: SendArguments[3]];

const ttlSeconds = { least: 20, most: 259_200 }; // the most that Vonage takes for SMS

/** Numbers are written without their plus sign. */
const withoutPlus = (number: string): string => number.replace(/^\+/, "");

const contentOf = ({ text, mediaUrls }: SmsText): object => {
  if (mediaUrls.length === 0) return { channel: "sms", message_type: "text", text };
  const [first = "", ...others] = mediaUrls.map((url) => ({ type: mediaTypeOf(url), url }));
  const content = [{ ...Object(first), ...(text === "" ? {} : { caption: text }) }, ...others];
  return { channel: "mms", message_type: "content", content };
};

const mediaTypeOf = (url: string): string => {
  const ending = /\.(\w+)$/.exec(URL.parse(url)?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  return mediaTypes.find(([, endings]) => endings.includes(ending))?.[0] ?? "image";
};

const mediaTypes: readonly (readonly [string, readonly string[]])[] = [
  ["video", ["mp4", "3gp", "3gpp", "mov", "webm", "mpeg"]],
  ["audio", ["mp3", "wav", "ogg", "aac", "amr", "m4a"]],
  ["vcard", ["vcf"]],
  ["file", ["pdf"]],
];

const tokenLifeMs = 900_000; // as Vonage's own clients do
const renewBeforeMs = 300_000;

/**
 * The application's token, made once in ten minutes: to sign it costs more than to send a message. Null when the key is none.
 */
export const vonageTokens = (
  { application_id: applicationId, private_key: pem }: Pick<VonageAccount, "application_id" | "private_key">,
  clock: Clock,
) => {
  const key = jwtKey(pem, "RS256");
  let known: { value: string; renewAtMs: number } | null = null;
  return (): string | null => {
    const nowMs = clock.now().getTime();
    if (key !== null && (known === null || nowMs >= known.renewAtMs)) {
      known = { value: tokenOf(key, applicationId, nowMs), renewAtMs: nowMs + tokenLifeMs - renewBeforeMs };
    }
    return known?.value ?? null;
  };
};

/** Source: developer.vonage.com, "Authentication", JSON Web Tokens. */
const tokenOf = (key: JwtKey, applicationId: string, nowMs: number): string => {
  const iat = Math.floor(nowMs / 1000);
  const claims = { application_id: applicationId, iat, exp: iat + tokenLifeMs / 1000, jti: randomUUID() };
  return signJwt(key, { typ: "JWT" }, claims);
};
