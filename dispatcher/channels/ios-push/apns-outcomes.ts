import type { Fault, Outcome } from "#core/domain/messages/outcome.ts";
import { retryAfter } from "#core/domain/retry-after.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";

/** What APNs answered. */
export type ApnsReply = { status: number; body: string; retryAfter?: string };

type Rule = {
  kind: Exclude<Outcome["kind"], "sent" | "uncertain">;
  code: DeliveryErrorCode;
  pauseMs?: number;
  fault?: Fault;
};

const tokenInvalid: Rule = { kind: "token_invalid", code: "TOKEN_INVALID" };
const tokenGone: Rule = { kind: "token_invalid", code: "TOKEN_UNREGISTERED" };
const setUp: Rule = { kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" };
const rejected: Rule = { kind: "payload_error", code: "PROVIDER_REJECTED" };
const tooLarge: Rule = { kind: "payload_error", code: "PAYLOAD_TOO_LARGE" };
const limited: Rule = { kind: "retry_at", code: "PROVIDER_RATE_LIMITED", pauseMs: 60_000 };
// Apple: "After 15 minutes, you can retry" 5xx, and "may employ a back-off technique". Most such answers come from one
// host that restarts, so the first retry may come soon; the pauses between retries of a recipient grow to 30 minutes.
const unavailable: Rule = { kind: "retry_at", code: "PROVIDER_UNAVAILABLE", pauseMs: 10_000, fault: "provider" };

/**
 * Every documented reason. Source: Apple, "Handling notification responses from APNs"
 * (https://developer.apple.com/documentation/usernotifications/handling-notification-responses-from-apns).
 */
export const apnsRules: Readonly<Record<string, Rule>> = {
  BadCollapseId: rejected,
  BadDeviceToken: tokenInvalid, // malformed, or of the other environment
  BadExpirationDate: rejected,
  BadMessageId: rejected,
  BadPriority: rejected,
  BadTopic: setUp,
  DeviceTokenNotForTopic: tokenInvalid,
  DuplicateHeaders: rejected,
  IdleTimeout: unavailable,
  InvalidPushType: rejected,
  MissingDeviceToken: tokenInvalid,
  MissingTopic: setUp,
  PayloadEmpty: rejected,
  TopicDisallowed: setUp,
  BadCertificate: setUp,
  BadCertificateEnvironment: setUp,
  BadEnvironmentKeyIdInToken: setUp,
  ExpiredProviderToken: setUp, // after a new token was tried: this machine's clock is wrong
  Forbidden: setUp,
  InvalidProviderToken: setUp,
  MissingProviderToken: setUp,
  UnrelatedKeyIdInToken: setUp,
  BadPath: tokenInvalid, // the token is the only part of the path that varies
  MethodNotAllowed: rejected,
  ExpiredToken: tokenGone,
  Unregistered: tokenGone,
  PayloadTooLarge: tooLarge,
  TooManyProviderTokenUpdates: limited,
  TooManyRequests: limited,
  InternalServerError: unavailable,
  ServiceUnavailable: unavailable,
  Shutdown: unavailable,
};

const byStatus: Readonly<Record<number, Rule>> = { 403: setUp, 410: tokenGone, 413: tooLarge, 429: limited };

const maxRetryAfterMs = 86_400_000;

/** What an answer of APNs to a push means; `apnsId` is that of the request. */
export const apnsOutcome = (reply: ApnsReply, apnsId: string, now: Date): Outcome => {
  const { status, body } = reply;
  if (status === 200) return { kind: "sent", providerId: apnsId };
  const { reason, timestamp } = parse(body);
  const rule = apnsRules[reason] ?? byStatus[status] ?? (status >= 500 ? unavailable : rejected);
  const refusal = {
    code: rule.code,
    providerCode: `${status} ${reason}`.trim(),
    reason: `APNs refused the push: ${reason || status}`,
  };
  const fault = rule.fault === undefined ? {} : { fault: rule.fault };
  switch (rule.kind) {
    case "retry_at":
      return { kind: rule.kind, ...refusal, ...fault, at: retryInstant(reply, rule, now) };
    case "token_invalid":
      return { kind: rule.kind, ...refusal, ...(timestamp === null ? {} : { since: timestamp }) };
    case "config_error":
      return { kind: rule.kind, ...refusal, ...fault };
    case "payload_error":
      return { kind: rule.kind, ...refusal };
  }
};

const retryInstant = ({ retryAfter: header }: ApnsReply, { pauseMs = 0 }: Rule, now: Date): Date =>
  retryAfter(header, now, maxRetryAfterMs) ?? new Date(now.getTime() + pauseMs);

/** The reason, and when APNs found the token gone (410 only; ms since 1970). */
const parse = (body: string): { reason: string; timestamp: Date | null } => {
  try {
    const { reason, timestamp } = JSON.parse(body) as { reason?: unknown; timestamp?: unknown }; // both are checked here
    return {
      reason: typeof reason === "string" ? reason.slice(0, 100) : "",
      timestamp: typeof timestamp === "number" ? new Date(timestamp) : null,
    };
  } catch {
    return { reason: "", timestamp: null };
  }
};
