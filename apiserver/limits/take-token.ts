import type { Clock } from "#core/domain/clock.ts";
import { gather } from "#core/runtime/batching/gather.ts";
import type { Log } from "#core/runtime/process/log.ts";
import { type Bucket, emptyBuckets, localBuckets, type RateState, rateState } from "./rate.ts";
import { type BucketRequest, noneLeft, type TakeShared } from "./shared-buckets.ts";

export type TakeTokenDeps = {
  takeShared: TakeShared;
  /** Replicas of this program: each lets its share through while Redis is away. */
  replicas: number;
  clock: Clock;
  log: Log;
  /** Counts decisions by where the bucket was. */
  count: (decision: "allowed" | "limited", bucket: "redis" | "local") => void;
};

const mostKeys = 50_000; // buckets of keys seen while Redis is away, and of those found empty
const shared = { most: 200, inFlight: 100, isOfTurn: true }; // requests of one command; commands under way

const quietMs = 10_000; // of a cluster one node may be away, whose buckets fail between those of the others

/** Takes one token of a bucket: from the shared one, or, while Redis is away, from this replica's share of it. */
export type TakeFrom = (name: string, bucket: Bucket) => Promise<RateState & { isDegraded: boolean }>;

/** Gives a token back that was taken of a bucket. While Redis is away, or goes away, it may be lost: it flows in again. */
export type GiveBack = { giveBack: (name: string, bucket: Bucket) => Promise<void> };

/** Requests of one turn of the event loop take their tokens in one command, each as if they had come one after the other. */
export const takeFrom = ({ takeShared, replicas, clock, log, count }: TakeTokenDeps): TakeFrom & GiveBack => {
  const local = localBuckets({ max: mostKeys, clock });
  const empty = emptyBuckets({ max: mostKeys, clock });
  const take = gather({ write: takeAll(takeShared), ...shared });
  let [isAway, failedAt] = [false, 0];
  const decided = (state: RateState, bucket: "redis" | "local") => {
    count(state.isAllowed ? "allowed" : "limited", bucket);
    return { ...state, isDegraded: bucket === "local" };
  };
  const takeOne: TakeFrom = async (name, bucket) => {
    const known = empty.find(name, bucket);
    if (known !== null) return decided(known, "redis");
    try {
      const askedAt = clock.now();
      const taken = await take({ name, bucket });
      if (taken instanceof Error) throw taken;
      const { isAllowed, tokens } = taken;
      if (isAway && askedAt.getTime() - failedAt > quietMs) {
        log.info("redis.returned");
        isAway = false;
      }
      if (!isAllowed) empty.add(name, bucket, tokens, askedAt);
      return decided(rateState(bucket, tokens, isAllowed), "redis");
    } catch (error) {
      if (!isAway) log.warn({ err: error }, "redis.away");
      [isAway, failedAt] = [true, clock.now().getTime()];
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
const takeAll = (takeShared: TakeShared) => async (asked: readonly TokenRequest[]) => {
  const wanted = new Map<string, BucketRequest>();
  const places = asked.map(({ name, bucket }) => {
    const key = `${name} ${bucket.capacity} ${bucket.perSecond}`; // a plan that was just changed may come in both forms
    const one = wanted.get(key) ?? { name, ...bucket, count: 0 };
    wanted.set(key, one);
    return { key, place: ++one.count };
  });
  const taken = await takeShared([...wanted.values()]);
  const replies = new Map([...wanted.keys()].map((key, i) => [key, taken[i] ?? noneLeft]));
  return places.map(({ key, place }) => {
    const reply = replies.get(key) ?? noneLeft;
    if (reply instanceof Error) return reply;
    const { taken: got, thousandths } = reply;
    return { isAllowed: place <= got, tokens: thousandths / 1000 + Math.max(0, got - place) };
  });
};

export type TakeToken = (keyId: string, perSecond: number) => ReturnType<TakeFrom>;

/** One token of a key, whose bucket holds a second's. */
export const takeToken =
  (take: TakeFrom): TakeToken =>
  (keyId, perSecond) =>
    take(`rate:${keyId}`, { capacity: perSecond, perSecond });
