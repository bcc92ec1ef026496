import type { RunErrorCode } from "#core/schema/warehouse/export.ts";
import type { DestinationError } from "./destination.ts";
import { storeFault } from "./faults.ts";

/**
 * What an owner is told of an error of the SDK.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html (2026-11-27)
 */
export const s3Fault = (error: unknown): DestinationError =>
  storeFault(error, { name: error instanceof Error ? error.name : null, status: statusOf(error) }, byName);

const byName: ReadonlyMap<string, RunErrorCode> = new Map([
  ["InvalidAccessKeyId", "AUTH"],
  ["SignatureDoesNotMatch", "AUTH"],
  ["ExpiredToken", "AUTH"],
  ["InvalidToken", "AUTH"],
  ["RequestTimeTooSkewed", "AUTH"],
  ["AccessDenied", "PERMISSION"],
  ["AllAccessDisabled", "PERMISSION"],
  ["AccountProblem", "PERMISSION"],
  ["NoSuchBucket", "NOT_FOUND"],
  ["PermanentRedirect", "NOT_FOUND"],
  ["QuotaExceeded", "QUOTA"],
  ["XMinioStorageFull", "QUOTA"],
  ["SlowDown", "QUOTA"],
  ["TimeoutError", "NETWORK"],
  ["AbortError", "NETWORK"],
  ["NetworkingError", "NETWORK"],
]);

const statusOf = (error: unknown): number | null => {
  const metadata: unknown = error instanceof Error && "$metadata" in error ? error.$metadata : null;
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return null;
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : null;
};
