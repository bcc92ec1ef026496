import type { Outcome } from "#core/domain/outcome.ts";

/** Refusals in a row after which the set-up is doubted rather than the tokens. */
const mostInARow = 20;

/**
 * A provider refuses every token alike when the environment, bundle or project is wrong: then no subscription may be
 * lost. After 20 such refusals with nothing accepted between, further ones fail their delivery but keep the
 * subscription. An unregistered token proves that the set-up is right.
 */
export const tokenGuard = (): ((outcome: Outcome) => Outcome) => {
  let inARow = 0;
  return (outcome) => {
    if (outcome.kind === "sent" || (outcome.kind === "token_invalid" && outcome.code === "TOKEN_UNREGISTERED"))
      inARow = 0;
    if (outcome.kind !== "token_invalid" || outcome.code === "TOKEN_UNREGISTERED") return outcome;
    if (++inARow <= mostInARow) return outcome;
    const { code, providerCode, reason } = outcome;
    return {
      kind: "payload_error",
      code,
      providerCode,
      reason: `${reason}; so many in a row that the set-up is doubted`,
    };
  };
};
