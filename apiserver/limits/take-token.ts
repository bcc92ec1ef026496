import type { Redis } from "ioredis";
import type { Clock } from "#core/domain/clock.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type Bucket, emptyBuckets, localBuckets, type RateState, rateState } from "./rate.ts";

/** So many tokens of a bucket are wanted by as many requests. */
export type BucketRequest = Bucket & { name: string; count: number };

export type TakeTokenDeps = {
  /** Takes tokens of buckets in Redis: of each how many there were of those wanted, and thousandths left. Rejects when Redis is away. */
  takeShared: (wanted: readonly BucketRequest[]) => Promise<{ taken: number; thousandths: number }[]>;
  /** Replicas of this program: each lets its share through while Redis is away. */
  replicas: number;
  clock: Clock;
  log: Log;
  /** Counts decisions by where the bucket was. */
  count: (decision: "allowed" | "limited", bucket: "redis" | "local") => void;
};

/**
 * Takes tokens from buckets: of each as many as are wanted, or as there are; fewer than none gives some back. Tokens are counted in thousandths, time is
 * Redis's own. Returns for each {how many were taken, thousandths left}. A key outlives the time to fill by a second.
 */
const bucketScript = `
local now = redis.call("TIME")
local now_us = now[1] * 1000000 + now[2]
local replies = {}
for i, key in ipairs(KEYS) do
  local capacity, per_second, wanted = ARGV[3 * i - 2] * 1000, tonumber(ARGV[3 * i - 1]), tonumber(ARGV[3 * i])
  local kept = redis.call("HMGET", key, "tokens", "at")
  local tokens = tonumber(kept[1]) or capacity
  local at = tonumber(kept[2]) or now_us
  tokens = math.min(capacity, tokens + math.max(0, now_us - at) * per_second / 1000)
  local taken = math.min(wanted, math.floor(tokens / 1000))
  tokens = math.min(capacity, tokens - taken * 1000)
  redis.call("HSET", key, "tokens", string.format("%.3f", tokens), "at", string.format("%d", now_us))
  redis.call("PEXPIRE", key, math.ceil(capacity / per_second) + 1000)
  replies[2 * i - 1] = taken
  replies[2 * i] = math.floor(tokens)
end
return replies
`;

/** Gives Redis the command that takes tokens. Its text goes over the wire only when Redis does not know it. */
export const sharedBuckets = (redis: Pick<Redis, "defineCommand">): TakeTokenDeps["takeShared"] => {
  redis.defineCommand("takeTokens", { lua: bucketScript });
  type Defined = { takeTokens: (keys: number, ...keysAndArguments: (string | number)[]) => Promise<number[]> };
  const defined = redis as unknown as Defined; // sound: just defined, and what it returns
  return async (wanted) => {
    const names = wanted.map(({ name }) => name);
    const values = wanted.flatMap(({ capacity, perSecond, count }) => [capacity, perSecond, count]);
    const replies = await defined.takeTokens(names.length, ...names, ...values);
    return wanted.map((_, i) => ({ taken: replies[2 * i] ?? 0, thousandths: replies[2 * i + 1] ?? 0 }));
  };
};

const mostKeys = 50_000; // buckets of keys seen while Redis is away, and of those found empty
const shared = { most: 200, inFlight: 100, isOfTurn: true }; // requests of one command; commands under way

/** Takes one token of a bucket: from the shared one, or, while Redis is away, from this replica's share of it. */
export type TakeFrom = (name: string, bucket: Bucket) => Promise<RateState & { isDegraded: boolean }>;

/** Gives a token back that was taken of a bucket. While Redis is away, or goes away, it may be lost: it flows in again. */
export type GiveBack = { giveBack: (name: string, bucket: Bucket) => Promise<void> };

/** Requests of one turn of the event loop take their tokens in one command, each as if they had come one after the other. */
export const takeFrom = ({ takeShared, replicas, clock, log, count }: TakeTokenDeps): TakeFrom & GiveBack => {
  const local = localBuckets({ max: mostKeys, clock });
  const empty = emptyBuckets({ max: mostKeys, clock });
  const take = gather({ write: takeAll(takeShared), ...shared });
  let isAway = false;
  const decided = (state: RateState, bucket: "redis" | "local") => {
    count(state.isAllowed ? "allowed" : "limited", bucket);
    return { ...state, isDegraded: bucket === "local" };
  };
  const takeOne: TakeFrom = async (name, bucket) => {
    const known = empty.find(name, bucket);
    if (known !== null) return decided(known, "redis");
    try {
      const askedAt = clock.now();
      const { isAllowed, tokens } = await take({ name, bucket });
      if (isAway) log.info("redis.returned");
      isAway = false;
      if (!isAllowed) empty.add(name, bucket, tokens, askedAt);
      return decided(rateState(bucket, tokens, isAllowed), "redis");
    } catch (error) {
      if (!isAway) log.warn({ err: error }, "redis.away");
      isAway = true;
      const share = { capacity: Math.max(1, bucket.capacity / replicas), perSecond: bucket.perSecond / replicas };
      return decided(local.take(name, share), "local");
    }
  };
  const giveBack: GiveBack["giveBack"] = async (name, bucket) => {
    empty.forget(name);
    await takeShared([{ name, ...bucket, count: -1 }]).catch(() => undefined);
  };
  return Object.assign(takeOne, { giveBack });
};

type TokenRequest = { name: string; bucket: Bucket };

/** Gives each whether they got a token, and what was left behind them. */
const takeAll = (takeShared: TakeTokenDeps["takeShared"]) => async (asked: readonly TokenRequest[]) => {
  const wanted = new Map<string, BucketRequest>();
  const places = asked.map(({ name, bucket }) => {
    const key = `${name} ${bucket.capacity} ${bucket.perSecond}`; // a plan that was just changed may come in both forms
    const one = wanted.get(key) ?? { name, ...bucket, count: 0 };
    wanted.set(key, one);
    return { key, place: ++one.count };
  });
  const taken = await takeShared([...wanted.values()]);
  const replies = new Map([...wanted.keys()].map((key, i) => [key, taken[i] ?? { taken: 0, thousandths: 0 }]));
  return places.map(({ key, place }) => {
    const { taken: got, thousandths } = replies.get(key) ?? { taken: 0, thousandths: 0 };
    return { isAllowed: place <= got, tokens: thousandths / 1000 + Math.max(0, got - place) };
  });
};

export type TakeToken = (keyId: string, perSecond: number) => ReturnType<TakeFrom>;

/** One token of a key, whose bucket holds a second's. */
export const takeToken =
  (take: TakeFrom): TakeToken =>
  (keyId, perSecond) =>
    take(`rate:${keyId}`, { capacity: perSecond, perSecond });
