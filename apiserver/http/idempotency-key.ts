import { createHash } from "node:crypto";
import { AppError, invalid } from "#core/errors.ts";

/** The key that a caller gave, in the header or in the body. Source: docs/reference/requests.md#idempotency. */
export const idempotencyKey = (header: string | undefined, member: string | undefined): string | undefined => {
  if (header !== undefined && !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw invalid("header.Idempotency-Key", "must be 1 to 255 visible ASCII characters");
  }
  if (header !== undefined && member !== undefined && header !== member) {
    throw invalid("idempotency_key", "differs from the header Idempotency-Key");
  }
  return header ?? member;
};

/** SHA-256 of a body as canonical JSON: tells a repeat from another request. */
export const fingerprintOf = (body: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(body ?? null, sortKeys))
    .digest("hex");

const sortKeys = (_: string, value: unknown): unknown => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
};

/** What a reply says of a key that was used before. */
export const repeatHeaders = ({ replayed, mismatch }: { replayed: boolean; mismatch: boolean }) => ({
  ...(replayed && { "Idempotent-Replayed": "true" }),
  ...(mismatch && { "Idempotent-Mismatch": "true" }),
});

/** The first request with a key is still being answered. */
export const inProgress = (): AppError =>
  new AppError("HS_IDEMPOTENCY_IN_PROGRESS", "a request with this idempotency key is being handled", {
    retry_after_seconds: 1,
  });

/** The app wants another body under a used key refused. */
export const keyReused = (what: string, details: { key: string | undefined; message_id?: string }): AppError =>
  new AppError("HS_IDEMPOTENCY_KEY_REUSED", `this idempotency key belongs to another ${what}`, details);

/** Another body under a used key, where the first reply would hide that nothing was done. */
export const otherRequest = (key: string): AppError =>
  new AppError("HS_CONFLICT", "this idempotency key belongs to another request", { status: "key_reused", key });
