import type { Fault, Outcome } from "#core/domain/messages/outcome.ts";
import { retryAfter } from "#core/domain/retry-after.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";

/** What FCM answered. */
export type FcmReply = { status: number; body: string; retryAfter?: string };

type Rule = {
  kind: Exclude<Outcome["kind"], "sent" | "uncertain">;
  code: DeliveryErrorCode;
  pauseMs?: number;
  fault?: Fault;
};

const tokenInvalid: Rule = { kind: "token_invalid", code: "TOKEN_INVALID" };
const tokenGone: Rule = { kind: "token_invalid", code: "TOKEN_UNREGISTERED" };
const setUp: Rule = { kind: "config_error", code: "PROVIDER_AUTH", fault: "provider" };
const notOfAll: Rule = { kind: "config_error", code: "PROVIDER_AUTH" };
const rejected: Rule = { kind: "payload_error", code: "PROVIDER_REJECTED" };
const tooLarge: Rule = { kind: "payload_error", code: "PAYLOAD_TOO_LARGE" };
const limited: Rule = { kind: "retry_at", code: "PROVIDER_RATE_LIMITED", pauseMs: 60_000 }; // "no earlier than 1 minute"
const unavailable: Rule = {
  kind: "retry_at",
  code: "PROVIDER_UNAVAILABLE",
  pauseMs: 10_000, // "at least 10 seconds"
  fault: "provider",
};

/**
 * Every documented error code, and the general ones of Google's interfaces that FCM answers with.
 * Sources: Firebase, "ErrorCode" (https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode) and "Scale FCM";
 * Google, google.rpc.Code.
 */
export const fcmRules: Readonly<Record<string, Rule>> = {
  UNSPECIFIED_ERROR: unavailable,
  INVALID_ARGUMENT: rejected, // unless its details tell of the token or of the size
  UNREGISTERED: tokenGone,
  SENDER_ID_MISMATCH: { kind: "config_error", code: "SENDER_MISMATCH" }, // the token is of another project, or the account is
  QUOTA_EXCEEDED: limited,
  UNAVAILABLE: unavailable,
  INTERNAL: unavailable,
  THIRD_PARTY_AUTH_ERROR: notOfAll, // of Apple's devices and browsers
  UNAUTHENTICATED: setUp, // after a new access token was tried
  PERMISSION_DENIED: setUp,
  NOT_FOUND: notOfAll, // the project: an unregistered token has a code of FCM beside this one
  RESOURCE_EXHAUSTED: limited,
  DEADLINE_EXCEEDED: unavailable,
};

/** Words of the message and of the field violations, which say more than the code beside them. */
const wordRules: readonly { words: RegExp; code: RegExp; rule: Rule }[] = [
  { words: /not ?registered/i, code: /^(?:NOT_FOUND|INVALID_ARGUMENT)$/, rule: tokenGone },
  { words: /registration token|invalid ?registration|message\.token/i, code: /^INVALID_ARGUMENT$/, rule: tokenInvalid },
  { words: /too (?:big|large)|message ?too ?big/i, code: /^INVALID_ARGUMENT$/, rule: tooLarge },
];

const maxRetryAfterMs = 86_400_000;

/** What an answer of FCM to a push means. Its own words stay out of the reason: they may name the token. */
export const fcmOutcome = (reply: FcmReply, now: Date): Outcome => {
  if (reply.status === 200) return { kind: "sent", providerId: messageIdOf(reply.body) };
  const { code, words } = parse(reply.body);
  const { kind, code: ownCode, pauseMs = 0, fault: blamed } = ruleFor(reply.status, code, words);
  const refusal = {
    code: ownCode,
    providerCode: `${reply.status} ${code}`.trim(),
    reason: `FCM refused the push: ${code || reply.status}`,
  };
  const fault = blamed === undefined ? {} : { fault: blamed };
  if (kind === "config_error") return { kind, ...refusal, ...fault };
  if (kind !== "retry_at") return { kind, ...refusal };
  const at = retryAfter(reply.retryAfter, now, maxRetryAfterMs) ?? new Date(now.getTime() + pauseMs);
  return { kind, ...refusal, ...fault, at };
};

const ruleFor = (status: number, code: string, words: string): Rule => {
  const byWords = wordRules.find((rule) => rule.code.test(code) && rule.words.test(words));
  return byWords?.rule ?? fcmRules[code] ?? byStatus[status] ?? (status >= 500 ? unavailable : rejected);
};

const byStatus: Readonly<Record<number, Rule>> = { 401: setUp, 403: setUp, 404: notOfAll, 413: tooLarge, 429: limited };

const messageIdOf = (body: string): string | null => /"name"\s*:\s*"[^"]*\/([^"/]{1,200})"/.exec(body)?.[1] ?? null;

type Detail = { errorCode?: unknown; fieldViolations?: { field?: unknown; description?: unknown }[] };
type ErrorBody = { error?: { status?: unknown; message?: unknown; details?: Detail[] } };

/** FCM's own code when there is one, else the general status; and all words that explain it. */
const parse = (body: string): { code: string; words: string } => {
  try {
    const { error = {} } = JSON.parse(body) as ErrorBody; // members are checked here
    const details = Array.isArray(error.details) ? error.details : [];
    const code = details.find(({ errorCode }) => typeof errorCode === "string")?.errorCode ?? error.status;
    const violations = details.flatMap(({ fieldViolations }) => fieldViolations ?? []);
    const words = [error.message, ...violations.flatMap(({ field, description }) => [field, description])];
    return { code: typeof code === "string" ? code.slice(0, 100) : "", words: words.join(" ").slice(0, 2000) };
  } catch {
    return { code: "", words: "" };
  }
};
