import type { Outcome } from "#core/domain/messages/outcome.ts";
import type { DeliveryErrorCode } from "#core/schema/vocabulary/delivery-error-codes.ts";

/** How many attempts were accepted, and how many found their address gone; other outcomes say nothing of an address. */
export type Verdicts = { accepted: number; gone: number };

export type InvalidationGuard = ReturnType<typeof invalidationGuard>;

const enough = 20; // verdicts are needed to judge an account
const mostGone = 0.95; // of them; more is "nearly all"; docs/reference/channels.md#invalidation-guard

/**
 * Doubts an account whose provider calls nearly all addresses gone: then the environment, bundle, project or
 * mail server is wrong, and no subscription may be lost. A run with enough verdicts is judged by its own, a smaller one
 * by the account's last 20. As long as there are fewer, an address is believed to be gone when another was accepted, or
 * when the provider itself says that it was unregistered.
 */
export const invalidationGuard = () => {
  const last: boolean[] = []; // whether each was accepted
  return {
    observe: ({ kind }: Outcome): void => {
      if (kind !== "sent" && kind !== "token_invalid") return;
      last.push(kind === "sent");
      if (last.length > enough) last.shift();
    },
    /** Whether addresses that a run found gone by `code` may be invalidated; `run` are its own verdicts, all observed. */
    believes: (run: Verdicts, code: DeliveryErrorCode): boolean => {
      const { accepted, gone } = run.accepted + run.gone >= enough ? run : verdictsOf(last);
      if (accepted + gone >= enough) return gone < (accepted + gone) * mostGone;
      return accepted > 0 || code === "TOKEN_UNREGISTERED";
    },
  };
};

const verdictsOf = (last: readonly boolean[]): Verdicts => {
  const accepted = last.filter(Boolean).length;
  return { accepted, gone: last.length - accepted };
};
