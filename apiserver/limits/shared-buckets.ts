import { Cluster, type Redis } from "ioredis";
import type { RedisClient } from "#core/storage/redis/connect.ts";
import type { Bucket } from "./rate.ts";

/** So many tokens of a bucket are wanted by as many requests. */
export type BucketRequest = Bucket & { name: string; count: number };

/** How many tokens were taken, and thousandths left. */
export type Taken = { taken: number; thousandths: number };

/**
 * Takes tokens of buckets in Redis: of each how many there were of those wanted; of one whose node of a Redis Cluster is away
 * the error. Rejects when Redis is away.
 */
export type TakeShared = (wanted: readonly BucketRequest[]) => Promise<(Taken | Error)[]>;

export const noneLeft: Taken = { taken: 0, thousandths: 0 };

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
export const sharedBuckets = (redis: RedisClient): TakeShared =>
  redis instanceof Cluster ? bucketsOfCluster(redis) : bucketsOf(redis);

type Values = readonly (string | number)[];

/** All in one command. */
const bucketsOf = (redis: Redis): TakeShared => {
  redis.defineCommand("takeTokens", { lua: bucketScript });
  type Defined = { takeTokens: (keys: number, ...keysAndArguments: Values) => Promise<number[]> };
  const defined = redis as unknown as Defined; // sound: just defined, and what it returns
  return async (wanted) => {
    const names = wanted.map(({ name }) => name);
    const replies = await defined.takeTokens(names.length, ...names, ...wanted.flatMap(valuesOf));
    return wanted.map((_, i) => takenIn(replies.slice(2 * i)));
  };
};

/**
 * A command for each bucket, as each may be on another node; those of one turn share a write to each. The number of keys is
 * said beforehand: ioredis finds the node by the first argument.
 */
const bucketsOfCluster = (redis: Cluster): TakeShared => {
  redis.defineCommand("takeTokens", { lua: bucketScript, numberOfKeys: 1 });
  type Defined = { takeTokens: (key: string, ...values: Values) => Promise<number[]> };
  const defined = redis as unknown as Defined; // sound: just defined, and what it returns
  const takeOne = (one: BucketRequest): Promise<Taken | Error> =>
    defined.takeTokens(one.name, ...valuesOf(one)).then(takenIn, (error: Error) => error);
  return (wanted) => Promise.all(wanted.map(takeOne));
};

const valuesOf = ({ capacity, perSecond, count }: BucketRequest): number[] => [capacity, perSecond, count];

const takenIn = ([taken = 0, thousandths = 0]: readonly number[]): Taken => ({ taken, thousandths });
