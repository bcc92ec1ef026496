import { AppError, errorStatuses } from "#core/errors.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { isOutOfTime } from "#core/storage/mongo/bounded-reads.ts";
import { unavailable } from "#core/storage/mongo/connect.ts";
import { RateLimited, rateHeaders } from "../../limits/rate.ts";
import type { Context, Middleware } from "../state.ts";

/** Turns every error below into the envelope (docs/reference/requests.md#errors). */
export const problem =
  (log: Log): Middleware =>
  async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const known = asAppError(error);
      if (known.code === "HS_INTERNAL_ERROR") {
        log.error({ err: error, requestId: ctx.state.requestId }, "request.failed");
      }
      refuse(ctx, known);
    }
  };

/** The envelope. */
export const errorBody = ({ code, message, details }: AppError, requestId: string) => ({
  error: { code, message, details, request_id: requestId },
});

/** The envelope as JSON text. */
export const envelope = (error: AppError, requestId: string): string => JSON.stringify(errorBody(error, requestId));

/** The HTTP status of an error. */
export const statusOf = ({ code }: AppError): number => errorStatuses[code];

/** What an error is to the caller: ours as it is, a store's absence as 503, a read without end as 504, else 500 without a word. */
export const asAppError = (error: unknown): AppError => {
  if (error instanceof AppError) return error;
  if (isOutOfTime(error)) return new AppError("HS_TIMEOUT", "the database took too long to answer");
  const translated = unavailable(error);
  if (translated instanceof AppError) return translated;
  return new AppError("HS_INTERNAL_ERROR", "an unexpected error happened; it is logged under this request id");
};

/** Makes the reply of a refusal. Headers that were set before stay. */
export const refuse = ({ state }: Context, error: AppError): void => {
  const status = statusOf(error);
  const { headers } = state;
  const { retry_after_seconds: retryAfterSeconds, allowed } = error.details;
  if (error instanceof RateLimited) Object.assign(headers, rateHeaders(error.policy, error.state));
  if (typeof retryAfterSeconds === "number") {
    headers["Retry-After"] = String(retryAfterSeconds);
    if (status === 429) headers["X-RateLimit-Reset"] = String(retryAfterSeconds); // of a refusal: when to come again
  }
  if (error.code === "HS_METHOD_NOT_ALLOWED" && Array.isArray(allowed)) headers["Allow"] = allowed.join(", ");
  if (error.code === "HS_UNAUTHENTICATED") headers["WWW-Authenticate"] = "Bearer";
  if (error.code === "HS_PAYLOAD_TOO_LARGE") headers["Connection"] = "close"; // the rest of the body is not read
  state.reply = { status, text: envelope(error, state.requestId) };
};
