import type { RunErrorCode } from "#core/schema/warehouse/export.ts";
import { DestinationError } from "./destination.ts";

/**
 * What an owner is told of an error of the SDK: its code, and words of ours around the name that the store gave it. What the
 * store wrote besides is not shown: it may hold a key or an address.
 * Source: https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html (2026-11-27)
 */
export const s3Fault = (error: unknown): DestinationError => {
  if (error instanceof DestinationError) return error;
  const refused = causes(error).find((one) => one instanceof DestinationError);
  if (refused instanceof DestinationError) return refused; // the guard's, below the SDK
  const name = error instanceof Error && /^[A-Za-z0-9]{1,64}$/.test(error.name) ? error.name : "Error";
  const status = statusOf(error);
  const code = byName.get(name) ?? byStatus(status);
  const said =
    code === "NETWORK" ? `the store did not answer (${networkName(error, name)})` : `the store answered ${name}`;
  return new DestinationError(code, status === null || code === "NETWORK" ? said : `${said} (${status})`, {
    cause: error,
  });
};

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

const byStatus = (status: number | null): RunErrorCode => {
  if (status === null) return "NETWORK";
  if (status === 401) return "AUTH";
  if (status === 403) return "PERMISSION";
  if (status === 404 || status === 301) return "NOT_FOUND";
  return status === 507 || status === 429 ? "QUOTA" : "INTERNAL";
};

const statusOf = (error: unknown): number | null => {
  const metadata: unknown = error instanceof Error && "$metadata" in error ? error.$metadata : null;
  if (typeof metadata !== "object" || metadata === null || !("httpStatusCode" in metadata)) return null;
  return typeof metadata.httpStatusCode === "number" ? metadata.httpStatusCode : null;
};

/** Node's own name of what went wrong on the way, such as ECONNREFUSED. */
const networkName = (error: unknown, otherwise: string): string => {
  const [code] = causes(error).flatMap((one) => ("code" in one && typeof one.code === "string" ? one.code : []));
  return code !== undefined && /^[A-Z0-9_]{1,64}$/.test(code) ? code : otherwise;
};

const causes = (error: unknown): Error[] => {
  const found: Error[] = [];
  for (let one = error; one instanceof Error && found.length < mostCauses; one = one.cause) found.push(one);
  return found;
};

const mostCauses = 8; // the SDK's, Node's, the guard's
