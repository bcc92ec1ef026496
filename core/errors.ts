/** Stable error codes of the REST interface, and their HTTP status. Source: docs/reference/requests.md#error-codes. */
export const errorStatuses = {
  HS_VALIDATION_ERROR: 400,
  HS_UNAUTHENTICATED: 401,
  HS_IDENTITY_TOKEN_INVALID: 401,
  HS_FORBIDDEN: 403,
  HS_PLAN_FEATURE_REQUIRED: 403,
  HS_ORGANIZATION_SUSPENDED: 403,
  HS_IP_NOT_ALLOWED: 403,
  HS_NOT_FOUND: 404,
  HS_METHOD_NOT_ALLOWED: 405,
  HS_NOT_ACCEPTABLE: 406,
  HS_REQUEST_TIMEOUT: 408,
  HS_CONFLICT: 409,
  HS_ALREADY_EXISTS: 409,
  HS_ALIAS_CLAIMED: 409,
  HS_IDEMPOTENCY_IN_PROGRESS: 409,
  HS_CHANNEL_NOT_CONFIGURED: 409,
  HS_MANAGED: 409,
  HS_NOT_REMOVABLE: 409,
  HS_JOB_IN_PROGRESS: 409,
  HS_SESSION_CLOSED: 409,
  HS_RECIPIENT_SUPPRESSED: 409,
  HS_PAYLOAD_TOO_LARGE: 413,
  HS_UNSUPPORTED_MEDIA_TYPE: 415,
  HS_EXPECTATION_FAILED: 417,
  HS_DESTINATION_UNREACHABLE: 422,
  HS_IDEMPOTENCY_KEY_REUSED: 422,
  HS_RATE_LIMITED: 429,
  HS_QUOTA_EXCEEDED: 429,
  HS_HEADERS_TOO_LARGE: 431,
  HS_INTERNAL_ERROR: 500,
  HS_UNAVAILABLE: 503,
  HS_TIMEOUT: 504,
} as const;

export type ErrorCode = keyof typeof errorStatuses;

/** Facts about an error that a client may read; never a secret, a token or an address. */
export type ErrorDetails = Record<string, unknown>;

/** An error of ours: a stable `code`, a message for people, details for programs. Only the borders translate it. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** Whether something was changed before it: then the same request goes on where this one ended. */
  isHalfDone = false;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options?: ErrorOptions) {
    const { stackTraceLimit } = Error;
    if (errorStatuses[code] < 500) Error.stackTraceLimit = 0; // a refusal is an answer: its trace is costly, and read by nobody
    super(message, options);
    Error.stackTraceLimit = stackTraceLimit;
    this.name = code;
    this.code = code;
    this.details = details;
  }
}

/** One failing member of an input: a dotted path with indexes (`target.channels[0]`) and what is wrong with it. */
export type FieldError = { field: string; message: string };

/** Bad input. The first failing member also stands at the top of `details`. */
export class ValidationError extends AppError {
  readonly errors: readonly FieldError[];

  constructor(errors: readonly [FieldError, ...FieldError[]], details: ErrorDetails = {}) {
    const [{ field, message }] = errors;
    super("HS_VALIDATION_ERROR", `${field}: ${message}`, { field, message, errors, ...details });
    this.errors = errors;
  }
}

/** Throws when there is something wrong with an input; the first error is the one at the top. */
export const refuse = ([first, ...rest]: readonly FieldError[]): void => {
  if (first !== undefined) throw new ValidationError([first, ...rest]);
};

/** A thing that does not exist, or exists for another tenant: callers never learn which. */
export class NotFound extends AppError {
  constructor(resource: string, options?: ErrorOptions) {
    super("HS_NOT_FOUND", `${resource} not found`, { resource }, options);
  }
}

/** A store that cannot be reached now; the same call may work later. */
export class Unavailable extends AppError {
  constructor(what: string, options?: ErrorOptions) {
    super("HS_UNAVAILABLE", `${what} is not available`, { retry_after_seconds: 1 }, options);
  }
}

/** For `catch`, where what a store cannot take now is made good later: false when it is away; any other error is thrown. */
export const falseWhenAway = (error: unknown): false => {
  if (error instanceof Unavailable) return false;
  throw error;
};

/** For `catch`, where something was written before: throws the error, and has a refusal say so. */
export const halfDone = (error: unknown): never => {
  if (error instanceof AppError) error.isHalfDone = true;
  throw error;
};

/** Shorthand for the one-member case of {@link ValidationError}. */
export const invalid = (field: string, message: string, details: ErrorDetails = {}): ValidationError =>
  new ValidationError([{ field, message }], details);
