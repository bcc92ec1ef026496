import { invalid } from "#core/errors.ts";

/** The key that a caller gave, in the header or in the body. Source: decisions 9.5. */
export const idempotencyKey = (header: string | undefined, member: string | undefined): string | undefined => {
  if (header !== undefined && !/^[\x21-\x7e]{1,255}$/.test(header)) {
    throw invalid("header.Idempotency-Key", "must be 1 to 255 visible ASCII characters");
  }
  if (header !== undefined && member !== undefined && header !== member) {
    throw invalid("idempotency_key", "differs from the header Idempotency-Key");
  }
  return header ?? member;
};
