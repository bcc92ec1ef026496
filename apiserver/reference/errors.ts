import { type ErrorCode, errorStatuses } from "#core/errors.ts";

/** When an error code is given. The same is in docs/reference/requests.md#error-codes, with its `details`. */
const meanings: Record<ErrorCode, string> = {
  HS_VALIDATION_ERROR:
    "the input is wrong; `details.field` names the first failing member, `details.errors` all of them",
  HS_UNAUTHENTICATED: "the key is missing, unknown, revoked or expired",
  HS_FORBIDDEN: "the key does not have the scope of the operation",
  HS_PLAN_FEATURE_REQUIRED: "the plan does not include the feature",
  HS_ORGANIZATION_SUSPENDED: "the organisation is suspended",
  HS_NOT_FOUND: "there is no such thing, or it is another organisation's, or the path is none",
  HS_METHOD_NOT_ALLOWED: "the path has no such method",
  HS_NOT_ACCEPTABLE: "`Accept` leaves out what the reply would be",
  HS_REQUEST_TIMEOUT: "the request came too slowly",
  HS_CONFLICT: "the state of the thing does not admit it",
  HS_ALREADY_EXISTS: "another has what must be unique",
  HS_ALIAS_CLAIMED: "another user has the alias",
  HS_IDEMPOTENCY_IN_PROGRESS: "the first request with this key is still being answered",
  HS_CHANNEL_NOT_CONFIGURED: "the app has no account on the channel",
  HS_MANAGED: "a custom resource says what the thing is: change that",
  HS_NOT_REMOVABLE: "the suppression cannot be lifted by a key",
  HS_PAYLOAD_TOO_LARGE: "the body is too large",
  HS_UNSUPPORTED_MEDIA_TYPE: "the body is of another type than the operation takes",
  HS_EXPECTATION_FAILED: "`Expect` asks for something else than `100-continue`",
  HS_IDEMPOTENCY_KEY_REUSED: "the key was used with another body, and the app asks to refuse that",
  HS_RATE_LIMITED: "the rate of the key, of the address or of the operation is used up",
  HS_QUOTA_EXCEEDED: "the plan allows no more",
  HS_HEADERS_TOO_LARGE: "the headers are too large",
  HS_INTERNAL_ERROR: "a fault of ours; the log has it under the request's id",
  HS_UNAVAILABLE: "a store is away, or this replica is stopping",
  HS_TIMEOUT: "the answer took too long; whether something was changed is not known",
};

/** Codes with which the same request may succeed later. */
const passing: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "HS_REQUEST_TIMEOUT",
  "HS_IDEMPOTENCY_IN_PROGRESS",
  "HS_RATE_LIMITED",
  "HS_QUOTA_EXCEEDED",
  "HS_INTERNAL_ERROR",
  "HS_UNAVAILABLE",
  "HS_TIMEOUT",
]);

export type KnownError = { code: ErrorCode; status: number; meaning: string; mayPass: boolean };

/** Every error code: its status, when it is given, and whether the same request may succeed later. */
export const knownErrors: readonly KnownError[] = Object.entries(meanings).map(([name, meaning]) => {
  const code = name as ErrorCode; // sound: a key of the meanings
  return { code, status: errorStatuses[code], meaning, mayPass: passing.has(code) };
});
