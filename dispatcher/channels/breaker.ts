import type { Clock } from "#core/domain/clock.ts";
import { type Fault, faultOf, type Outcome, unreached } from "#core/domain/messages/outcome.ts";

/** Faults in a row that open the breaker of one that has worked. */
const threshold = 20;
/** Calls under way at once while it is not known whether they succeed; the others wait for their outcome. */
const tries = 2;
/** First pause; doubles with each pause that ends in another fault, up to the cap. */
const firstPauseMs = 1_000;
const capPauseMs = 60_000;

export type Breaker = ReturnType<typeof breaker>;

/** Places for calls to origins that failed last; several breakers share them. */
export type Spare = { take: () => boolean; give: () => void };

export type BreakerOptions = {
  clock: Clock;
  /** Whose faults it counts; it ignores those of others. */
  counts: Fault;
  /** Whether it is known to work before the first answer. If not, the first fault opens the breaker. */
  isKnown: boolean;
  spare?: Spare;
};

/**
 * Stops calling a server that only fails, so that not every recipient waits for its deadline. While the breaker is open,
 * recipients get the last failure at once: a later instant when it can be tried again, else the reason. After a pause two
 * calls may try; the others wait for them, and go on when one of them succeeds.
 */
export const breaker = ({ clock, counts, isKnown, spare = unlimited }: BreakerOptions) => {
  let hasWorked = isKnown;
  let faults = 0;
  let pauseMs = firstPauseMs;
  let open: { until: Date; last: Outcome } | null = null;
  let trying = 0;
  let tried = Promise.withResolvers<void>();

  /** Whether calls are expected to succeed. */
  const isTrusted = (): boolean => hasWorked && open === null;
  const close = (): void => {
    hasWorked = true;
    faults = 0;
    pauseMs = firstPauseMs;
    open = null;
  };
  const observe = (outcome: Outcome): void => {
    const fault = faultOf(outcome);
    if (fault === null) return close();
    if (fault !== counts) return;
    faults++;
    const now = clock.now();
    if ((hasWorked && faults < threshold) || (open !== null && now < open.until)) return;
    open = { until: after(now, pauseMs), last: outcome };
    pauseMs = Math.min(capPauseMs, pauseMs * 2);
  };
  const observed = async (call: () => Promise<Outcome>): Promise<Outcome> => {
    const outcome = await call();
    observe(outcome);
    return outcome;
  };
  const tryOut = async (call: () => Promise<Outcome>): Promise<Outcome> => {
    const last = open?.last;
    if (last !== undefined && !spare.take()) return refusal(last, counts, after(clock.now(), firstPauseMs));
    trying++;
    try {
      return await observed(call);
    } finally {
      trying--;
      if (last !== undefined) spare.give();
      tried.resolve();
      tried = Promise.withResolvers();
    }
  };
  /** Makes a call, or answers in its place while the breaker is open. */
  const run = async (call: () => Promise<Outcome>): Promise<Outcome> => {
    if (isTrusted()) return observed(call);
    if (open !== null && clock.now() < open.until) return refusal(open.last, counts, open.until);
    if (trying < tries) return tryOut(call);
    await tried.promise;
    return run(call);
  };
  return { run, isOpen: (): boolean => open !== null, isTrusted };
};

const unlimited: Spare = { take: () => true, give: () => {} };

const after = (now: Date, ms: number): Date => new Date(now.getTime() + ms);

/** A recipient that was never handed over is never `uncertain`: it is tried again. */
const refusal = (last: Outcome, fault: Fault, at: Date): Outcome => {
  if (last.kind === "config_error") return last;
  const reason = last.kind === "retry_at" || last.kind === "uncertain" ? last.reason : "the provider does not answer";
  return unreached(reason, at, fault);
};
