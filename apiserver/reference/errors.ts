import { type ErrorCode, errorStatuses } from "#core/errors.ts";
import { identityFaults, keyFaults } from "#core/schema/vocabulary/refusal-reasons.ts";

/** What is known of an error code: when it is given, and in Markdown what its `details` hold, "" for nothing. */
type Known = { meaning: string; details?: string; mayPass?: true };

const named = (reasons: readonly string[]): string => reasons.map((reason) => `\`${reason}\``).join(", ");

const errors: Record<ErrorCode, Known> = {
  HS_VALIDATION_ERROR: {
    meaning: "the input is wrong",
    details: "`field` names the first failing member, `errors` lists all of them",
  },
  HS_UNAUTHENTICATED: {
    meaning: "the key is missing, unknown, revoked or expired",
    details: `\`reason\`: ${named(keyFaults)}`,
  },
  HS_IDENTITY_TOKEN_INVALID: {
    meaning: "a device's identity token is missing, or is not valid for its person",
    details: `\`reason\`: ${named(identityFaults)}`,
  },
  HS_FORBIDDEN: {
    meaning: "the key does not have the scope of the operation",
    details: "`required_scopes`, `granted_scopes`; or `reason`: `key_of_apps`, a key that is bound to apps",
  },
  HS_PLAN_FEATURE_REQUIRED: {
    meaning: "the plan does not include the feature",
    details: "`feature`; `plan`: the lowest plan that is enough, or null",
  },
  HS_ORGANIZATION_SUSPENDED: { meaning: "the organisation is suspended", details: "`reason`" },
  HS_IP_NOT_ALLOWED: { meaning: "the key may not be used from the address of the request", details: "`ip`" },
  HS_NOT_FOUND: {
    meaning: "there is no such thing, or it belongs to another organisation, or the path leads nowhere",
    details: "`resource`; `route` for a path that leads nowhere",
  },
  HS_METHOD_NOT_ALLOWED: { meaning: "the path has no such method", details: "`allowed`, as in the header `Allow`" },
  HS_NOT_ACCEPTABLE: { meaning: "`Accept` leaves out what the reply would be", details: "`allowed`" },
  HS_REQUEST_TIMEOUT: { meaning: "the request came too slowly", mayPass: true },
  HS_CONFLICT: {
    meaning: "the state of the thing does not admit it",
    details: "`status`, or the `limit` that is reached",
  },
  HS_ALREADY_EXISTS: {
    meaning: "another has what must be unique",
    details: "`field`, and `id` of the other where it may be known",
  },
  HS_ALIAS_CLAIMED: { meaning: "another user has the alias", details: "`label`, `user_id`" },
  HS_IDEMPOTENCY_IN_PROGRESS: {
    meaning: "the first request with this key is still being answered",
    details: "`retry_after_seconds`",
    mayPass: true,
  },
  HS_CHANNEL_NOT_CONFIGURED: { meaning: "the app has no account on the channel", details: "`channel`" },
  HS_MANAGED: {
    meaning: "a custom resource says what the thing is: change that",
    details: "`kind`, `namespace`, `name` of the resource; `member` where it owns some of several",
  },
  HS_NOT_REMOVABLE: { meaning: "a key cannot lift the suppression", details: "`reason` of the suppression" },
  HS_JOB_IN_PROGRESS: { meaning: "long work of the thing has not ended", details: "`run_id`" },
  HS_SESSION_CLOSED: {
    meaning: "nothing but a template may be sent to the person now",
    details: "`channel`, `expires_at`, `requires`: `template`",
  },
  HS_RECIPIENT_SUPPRESSED: { meaning: "the person gets no messages", details: "`reason`" },
  HS_PAYLOAD_TOO_LARGE: { meaning: "the body is too large, or what would be answered", details: "`limit_bytes`" },
  HS_UNSUPPORTED_MEDIA_TYPE: { meaning: "the body is of another type than the operation takes", details: "`allowed`" },
  HS_EXPECTATION_FAILED: { meaning: "`Expect` asks for something else than `100-continue`" },
  HS_DESTINATION_UNREACHABLE: {
    meaning: "a store cannot be written to as it is set up",
    details: "`step`, `message`",
  },
  HS_IDEMPOTENCY_KEY_REUSED: {
    meaning: "the key was used with another body, and the app asks to refuse that",
    details: "`key`; of a notification also `message_id`",
  },
  HS_RATE_LIMITED: {
    meaning: "the rate of the key, of the address or of the operation is used up",
    details: "`retry_after_seconds`; of a narrow rate also `limit`, `window_seconds`",
    mayPass: true,
  },
  HS_QUOTA_EXCEEDED: {
    meaning: "the plan allows no more",
    details: "`metric`, `limit`, `used`, `needed`, `resets_at`",
    mayPass: true,
  },
  HS_HEADERS_TOO_LARGE: { meaning: "the headers are too large", details: "`limit_bytes`" },
  HS_INTERNAL_ERROR: { meaning: "a fault of ours; the log has it under the request's id", mayPass: true },
  HS_UNAVAILABLE: {
    meaning: "a store is away, or this replica is stopping",
    details: "`retry_after_seconds`",
    mayPass: true,
  },
  HS_TIMEOUT: {
    meaning: "the answer took too long; whether something was changed is not known",
    mayPass: true,
  },
};

export type KnownError = { code: ErrorCode; status: number; meaning: string; details: string; mayPass: boolean };

/** Every error code: its status, when it is given, its `details`, and whether the same request may succeed later. */
export const knownErrors: readonly KnownError[] = Object.entries(errors).map(([name, known]) => {
  const code = name as ErrorCode; // sound: a key of the errors
  const { meaning, details = "", mayPass = false } = known;
  return { code, status: errorStatuses[code], meaning, details, mayPass };
});
