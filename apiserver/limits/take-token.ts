import type { Redis } from "ioredis";
import type { Clock } from "#core/domain/clock.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type Bucket, localBuckets, type RateState, rateState } from "./rate.ts";

export type TakeTokenDeps = {
  /** Takes a token of a bucket in Redis: 1 when there was one, and thousandths left. Rejects when Redis is away. */
  takeShared: (key: string, capacity: number, perSecond: number) => Promise<number[]>;
  /** Replicas of this program: each lets its share through while Redis is away. */
  replicas: number;
  clock: Clock;
  log: Log;
  /** Counts decisions by where the bucket was. */
  count: (decision: "allowed" | "limited", bucket: "redis" | "local") => void;
};

/**
 * Takes one token from the bucket of a key. Tokens are counted in thousandths, time is Redis's own.
 * Returns {1 when taken, thousandths left}. The key outlives the time to fill by a second.
 */
const bucketScript = `
local capacity = ARGV[1] * 1000
local per_second = tonumber(ARGV[2])
local now = redis.call("TIME")
local now_us = now[1] * 1000000 + now[2]
local kept = redis.call("HMGET", KEYS[1], "tokens", "at")
local tokens = tonumber(kept[1]) or capacity
local at = tonumber(kept[2]) or now_us
tokens = math.min(capacity, tokens + math.max(0, now_us - at) * per_second / 1000)
local taken = 0
if tokens >= 1000 then tokens = tokens - 1000; taken = 1 end
redis.call("HSET", KEYS[1], "tokens", string.format("%.3f", tokens), "at", string.format("%d", now_us))
redis.call("PEXPIRE", KEYS[1], math.ceil(ARGV[1] / per_second * 1000) + 1000)
return {taken, math.floor(tokens)}
`;

/** Gives Redis the command that takes a token. Its text goes over the wire only when Redis does not know it. */
export const sharedBuckets = (redis: Pick<Redis, "defineCommand">): TakeTokenDeps["takeShared"] => {
  redis.defineCommand("takeToken", { numberOfKeys: 1, lua: bucketScript });
  const defined = redis as unknown as { takeToken: TakeTokenDeps["takeShared"] }; // sound: just defined, and what it returns
  return (...bucket) => defined.takeToken(...bucket);
};

const mostKeys = 50_000; // buckets of keys seen while Redis is away

/** Takes one token of a bucket: from the shared one, or, while Redis is away, from this replica's share of it. */
export type TakeFrom = (name: string, bucket: Bucket) => Promise<RateState & { isDegraded: boolean }>;

export const takeFrom = ({ takeShared, replicas, clock, log, count }: TakeTokenDeps): TakeFrom => {
  const local = localBuckets({ max: mostKeys, clock });
  let isAway = false;
  return async (name, bucket) => {
    const { capacity, perSecond } = bucket;
    try {
      const [taken = 0, thousandths = 0] = await takeShared(name, capacity, perSecond);
      if (isAway) log.info("redis.returned");
      isAway = false;
      const state = rateState(bucket, thousandths / 1000, taken === 1);
      count(state.isAllowed ? "allowed" : "limited", "redis");
      return { ...state, isDegraded: false };
    } catch (error) {
      if (!isAway) log.warn({ err: error }, "redis.away");
      isAway = true;
      const share = { capacity: Math.max(1, capacity / replicas), perSecond: perSecond / replicas };
      const state = local.take(name, share);
      count(state.isAllowed ? "allowed" : "limited", "local");
      return { ...state, isDegraded: true };
    }
  };
};

export type TakeToken = (keyId: string, perSecond: number) => ReturnType<TakeFrom>;

/** One token of a key, whose bucket holds a second's. */
export const takeToken =
  (take: TakeFrom): TakeToken =>
  (keyId, perSecond) =>
    take(`rate:${keyId}`, { capacity: perSecond, perSecond });
