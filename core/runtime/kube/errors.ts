/** The Kubernetes API refused a request. `status` 0: it did not answer. */
export class KubeError extends Error {
  readonly status: number;
  readonly reason: string;
  /** How long the header Retry-After asks to wait, ms; null without one. */
  readonly retryAfterMs: number | null;

  constructor(
    what: string,
    answer: { status: number; reason: string; retryAfterMs?: number | null },
    options?: ErrorOptions,
  ) {
    super(`${what}: ${answer.status} ${answer.reason}`, options);
    this.name = "KubeError";
    this.status = answer.status;
    this.reason = answer.reason;
    this.retryAfterMs = answer.retryAfterMs ?? null;
  }
}

/** The Kubernetes API answered with this status. */
export const hasStatus = (error: unknown, status: number): boolean =>
  error instanceof KubeError && error.status === status;

/** Nobody knows whether the request was carried out. */
export const isUnanswered = (error: unknown): boolean => hasStatus(error, 0);
export const isNotFound = (error: unknown): boolean => hasStatus(error, 404);
/** Somebody else wrote the object in between, or it exists already. */
export const isConflict = (error: unknown): boolean => hasStatus(error, 409);
/** The version asked for is no longer kept: list again. */
export const isGone = (error: unknown): boolean => hasStatus(error, 410);
