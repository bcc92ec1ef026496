import type { Clock } from "#core/domain/clock.ts";
import type { Outcome } from "#core/domain/outcome.ts";

/** Outcomes of this kind in a row that open the breaker. */
const threshold = 20;
/** First pause; doubles with each pause that ends in another failure, up to the cap. */
const firstPauseMs = 1_000;
const capPauseMs = 60_000;

export type Breaker = {
  /** What to answer without calling the provider, or null when it may be called. */
  verdict: () => Outcome | null;
  observe: (outcome: Outcome) => void;
  isOpen: () => boolean;
};

/**
 * Stops calling a provider account that only fails, so that its deadline is not paid for every recipient. While it is
 * open recipients get the last failure at once: retryable ones a later instant, configuration errors their reason.
 * After a pause calls go through again; the first good answer closes it.
 */
export const breaker = (clock: Clock): Breaker => {
  let failures = 0;
  let pauseMs = firstPauseMs;
  let open: { until: Date; last: Outcome } | null = null;

  return {
    isOpen: () => open !== null,
    verdict: () => (open !== null && clock.now() < open.until ? refused(open.last, open.until) : null),
    observe: (outcome) => {
      if (!isFailure(outcome)) {
        failures = 0;
        pauseMs = firstPauseMs;
        open = null;
        return;
      }
      failures++;
      if (failures < threshold || (open !== null && clock.now() < open.until)) return;
      open = { until: new Date(clock.now().getTime() + pauseMs), last: outcome };
      pauseMs = Math.min(capPauseMs, pauseMs * 2);
    },
  };
};

/** A refused token or payload says that the provider works; a rate limit has its own instant. */
const isFailure = (outcome: Outcome): boolean =>
  outcome.kind === "config_error" ||
  outcome.kind === "uncertain" ||
  (outcome.kind === "retry_at" && outcome.code !== "PROVIDER_RATE_LIMITED");

/** A recipient that was never handed over is never `uncertain`: it is tried again. */
const refused = (last: Outcome, until: Date): Outcome => {
  if (last.kind === "config_error") return last;
  const reason = last.kind === "retry_at" || last.kind === "uncertain" ? last.reason : "the provider does not answer";
  return { kind: "retry_at", at: until, code: "PROVIDER_UNAVAILABLE", providerCode: null, reason };
};
