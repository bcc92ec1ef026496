import type { Fault, Outcome } from "#core/domain/messages/outcome.ts";
import { retryAfter } from "#core/domain/retry-after.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";

/** What a push service answered. */
export type PushServiceReply = { status: number; headers: Record<string, string | string[] | undefined>; body: string };

type Rule = {
  kind: Exclude<Outcome["kind"], "sent" | "uncertain">;
  code: DeliveryErrorCode;
  reason: string;
  fault?: Fault;
};

/**
 * Every documented answer. Sources: RFC 8030 5, 7.3 and 8.4; RFC 8292 4.2; Firefox autopush "error codes"; Apple "Sending
 * web push notifications" (reasons); Microsoft "WNS response codes" (406 throttled).
 */
const rules: Record<number, Rule> = {
  400: { kind: "payload_error", code: "PROVIDER_REJECTED", reason: "the push service refused the request" },
  401: { kind: "config_error", code: "PROVIDER_AUTH", reason: "the push service refused the VAPID token" },
  403: { kind: "config_error", code: "PROVIDER_AUTH", reason: "the push service refused the VAPID key" },
  404: { kind: "token_invalid", code: "TOKEN_UNREGISTERED", reason: "the subscription does not exist" },
  406: { kind: "retry_at", code: "PROVIDER_RATE_LIMITED", reason: "the push service throttles this channel" },
  408: { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", reason: "the push service timed out", fault: "origin" },
  410: { kind: "token_invalid", code: "TOKEN_UNREGISTERED", reason: "the subscription is gone" },
  413: { kind: "payload_error", code: "PAYLOAD_TOO_LARGE", reason: "the push service refused the size" },
  429: { kind: "retry_at", code: "PROVIDER_RATE_LIMITED", reason: "the push service limits the rate" },
};

/** Answers whose status says less than their body: words of the body, in any status of 400 to 403. */
const wordRules: { words: RegExp; rule: Rule }[] = [
  {
    words: /VapidPkHashMismatch|do not correspond to the credentials|UnauthorizedRegistration/i,
    rule: { kind: "config_error", code: "SENDER_MISMATCH", reason: "the subscription belongs to another VAPID key" },
  },
  {
    words: /BadJwtToken|BadAuthorizationHeader|ExpiredJwtToken/i,
    rule: { kind: "config_error", code: "PROVIDER_AUTH", reason: "the push service refused the VAPID token" },
  },
];

const serverFault: Rule = {
  kind: "retry_at",
  code: "PROVIDER_UNAVAILABLE",
  reason: "the push service has a fault",
  fault: "origin",
};
const refused: Rule = { kind: "payload_error", code: "PROVIDER_REJECTED", reason: "the push service refused the push" };

/** What the reply of a push service means. */
export const webPushOutcome = (reply: PushServiceReply, now: Date): Outcome => {
  const { status, headers, body } = reply;
  if (status >= 200 && status < 300) return { kind: "sent", providerId: messageOf(headers["location"]) };
  const { kind, code, reason, fault } = ruleFor(status, body);
  const refusal = { code, providerCode: providerCode(status, body), reason };
  if (kind !== "retry_at") return { kind, ...refusal };
  const header = headers["retry-after"];
  const at = retryAfter(typeof header === "string" ? header : undefined, now, maxRetryAfterMs);
  const pauseMs = pausesMs[code] ?? shortPauseMs;
  return {
    kind,
    ...refusal,
    ...(fault === undefined ? {} : { fault }),
    at: at ?? new Date(now.getTime() + pauseMs),
  };
};

const maxRetryAfterMs = 86_400_000;
const shortPauseMs = 10_000;
const pausesMs: Partial<Record<DeliveryErrorCode, number>> = { PROVIDER_RATE_LIMITED: 60_000 }; // FCM asks for a minute

const ruleFor = (status: number, body: string): Rule => {
  const byWords = status >= 400 && status <= 403 ? wordRules.find(({ words }) => words.test(body)) : undefined;
  return byWords?.rule ?? rules[status] ?? (status >= 500 ? serverFault : refused);
};

/** The last part of the message resource's address; the whole address would be a key to it. */
const messageOf = (location: string | string[] | undefined): string | null =>
  typeof location === "string" ? (location.split("/").at(-1)?.slice(0, 200) ?? null) : null;

/** The status, with the number (Mozilla) or the reason (Apple) of its body. */
const providerCode = (status: number, body: string): string => {
  const detail = /"errno"\s*:\s*(\d{1,6})/.exec(body)?.[1] ?? /"reason"\s*:\s*"([A-Za-z]{1,60})"/.exec(body)?.[1];
  return detail === undefined ? String(status) : `${status} ${detail}`;
};
