import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { AppError, type ErrorDetails } from "#core/errors.ts";

/** A token bucket: what it holds when full, and how fast it fills. */
export type Bucket = { capacity: number; perSecond: number };

/**
 * A bucket after a request: whether that took a token, whole tokens left, whole seconds until full or until a retry, and in
 * how many an empty one fills.
 */
export type RateState = {
  isAllowed: boolean;
  limit: number;
  remaining: number;
  resetSeconds: number;
  windowSeconds: number;
};

/**
 * The headers of a bucket, those of the IETF under the name of its rate: visible ASCII without quotes.
 * Source: docs/reference/limits.md#rates; draft-ietf-httpapi-ratelimit-headers-11, May 2026.
 */
export const rateHeaders = (policy: string, state: RateState): Record<string, string> => {
  const { limit, remaining, resetSeconds, windowSeconds } = state;
  return {
    "X-RateLimit-Limit": String(limit),
    "X-RateLimit-Remaining": String(remaining),
    "X-RateLimit-Reset": String(resetSeconds),
    "RateLimit-Policy": `"${policy}";q=${limit};w=${windowSeconds}`,
    RateLimit: `"${policy}";r=${remaining};t=${resetSeconds}`,
  };
};

/** A bucket has no token left; the reply shows that bucket's state, whichever others were asked before. */
export class RateLimited extends AppError {
  readonly policy: string;
  readonly state: RateState;

  /** `policy`: what the rate is called in the reply's headers. */
  constructor(policy: string, message: string, state: RateState, details: ErrorDetails = {}) {
    super("HS_RATE_LIMITED", message, { retry_after_seconds: state.resetSeconds, ...details });
    this.policy = policy;
    this.state = state;
  }
}

/** A bucket's state as the interface shows it. `tokens` may be fractional and is what is left. */
export const rateState = ({ capacity, perSecond }: Bucket, tokens: number, isAllowed: boolean): RateState => ({
  isAllowed,
  limit: Math.floor(capacity),
  remaining: Math.max(0, Math.floor(tokens)),
  resetSeconds: isAllowed
    ? Math.ceil(Math.max(0, capacity - tokens) / perSecond)
    : Math.max(1, Math.ceil((1 - tokens) / perSecond)),
  windowSeconds: Math.max(1, Math.ceil(capacity / perSecond)),
});

/** Buckets of this process, by name; the least recently used beyond `max` are forgotten (and so are full again). */
export const localBuckets = ({ max, clock }: { max: number; clock: Clock }) => {
  const kept = new LRUCache<string, { tokens: number; atMs: number }>(atMostEntries(max));
  const filledOf = (name: string, { capacity, perSecond }: Bucket, nowMs: number): number => {
    const { tokens, atMs } = kept.get(name) ?? { tokens: capacity, atMs: nowMs };
    return Math.min(capacity, tokens + (Math.max(0, nowMs - atMs) / 1000) * perSecond);
  };
  return {
    take: (name: string, bucket: Bucket): RateState => {
      const nowMs = clock.now().getTime();
      const filled = filledOf(name, bucket, nowMs);
      const isAllowed = filled >= 1;
      const tokens = isAllowed ? filled - 1 : filled;
      kept.set(name, { tokens, atMs: nowMs });
      return rateState(bucket, tokens, isAllowed);
    },

    /** The bucket's state, which stays as it is. */
    look: (name: string, bucket: Bucket): RateState => {
      const tokens = filledOf(name, bucket, clock.now().getTime());
      return rateState(bucket, tokens, tokens >= 1);
    },
  };
};

/**
 * Shared buckets that were found without a whole token. Until one has flowed in nobody gets one, whichever replica asks, so
 * that it need not be asked for.
 */
export const emptyBuckets = ({ max, clock }: { max: number; clock: Clock }) => {
  const kept = new LRUCache<string, { bucket: Bucket; tokens: number; atMs: number }>(atMostEntries(max));
  return {
    /** `at`: no later than when the bucket had these tokens. */
    add: (name: string, bucket: Bucket, tokens: number, at: Date): void =>
      void kept.set(name, { bucket, tokens, atMs: at.getTime() }),

    /** The bucket may have a token again. */
    forget: (name: string): void => void kept.delete(name),

    /** The bucket's state while it is empty; null when nobody knows. */
    find: (name: string, { capacity, perSecond }: Bucket): RateState | null => {
      const found = kept.get(name);
      if (found === undefined || found.bucket.capacity !== capacity || found.bucket.perSecond !== perSecond)
        return null;
      const passedMs = clock.now().getTime() - found.atMs;
      const tokens = found.tokens + (passedMs / 1000) * perSecond;
      return passedMs >= 0 && tokens < 1 ? rateState(found.bucket, tokens, false) : null; // a clock may step back
    },
  };
};
