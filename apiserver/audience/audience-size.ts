import { setTimeout as sleep } from "node:timers/promises";
import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { semaphore } from "#core/runtime/batching/bounded.ts";
import type { Log } from "#core/runtime/process/log.ts";
import type { AppStretch, Audience, SubscriptionCounts } from "#core/storage/people/subscription-counts.ts";

export type AudienceSizeDeps = {
  counts: Pick<SubscriptionCounts, "behind" | "nthBehind">;
  clock: Clock;
  log: Log;
  /** Subscriptions of a stretch that are read for one answer at most. */
  most?: number;
  /** How long the first answer about a larger stretch waits to know all of it, ms. */
  waitMs?: number;
};

/** Up to here an estimate is exact. Source: docs/reference/messages.md#estimate. */
const mostExact = 100_000;
/** On two busy cores some million of subscriptions are counted by then. */
const standardWaitMs = 3_000;
/** Until a large stretch is counted anew. Less than 2 % of an audience change their status by then. */
const goodMs = 600_000;
const countsAtOnce = 2;
const mostKept = 1_000; // large stretches

/** The first `count` subscriptions of a stretch, of which `upTo` is the last, as they were at `at`. */
type Known = { count: number; upTo: string; at: number };

type Counting = { soFar: Known; done: Promise<void> };

/**
 * How many subscriptions a message to all would reach, in a bounded time. A stretch of up to `most` is counted. Of a
 * larger one the bulk is counted in the background, part by part, and what has come since is added: the first answer
 * waits a while for that and may say less, later ones are old by ten minutes at most.
 */
export const audienceSize = (deps: AudienceSizeDeps): ((audience: Audience) => Promise<number>) => {
  const { counts, clock, most = mostExact, waitMs = standardWaitMs } = deps;
  const known = new LRUCache<string, Known>(atMostEntries(mostKept));
  const counting = counter(deps, most, (key, whole) => {
    if (whole.count > 0) known.set(key, whole);
    else known.delete(key);
  });

  const sizeOf = async (of: AppStretch): Promise<number> => {
    const key = JSON.stringify(of);
    let bulk = known.get(key);
    if (bulk === undefined) {
      const count = await counts.behind(of, "", most + 1);
      if (count <= most) return count;
      const { soFar, done } = counting(key, of);
      await Promise.race([done, sleep(waitMs, undefined, { ref: false })]);
      bulk = known.get(key) ?? { ...soFar };
    } else if (bulk.at + goodMs <= clock.now().getTime()) {
      counting(key, of);
    }
    return bulk.count + (await counts.behind(of, bulk.upTo, most));
  };

  return async ({ appId, reach, testOnly }) => {
    const sizes = await Promise.all(reach.map((stretch) => sizeOf({ appId, testOnly, ...stretch })));
    return sizes.reduce((sum, size) => sum + size, 0);
  };
};

/** Counts the bulk of a stretch, each once at a time. Nobody has to wait: what fails is tried again by the next to ask. */
const counter = (
  { counts, clock, log }: AudienceSizeDeps,
  most: number,
  keep: (key: string, whole: Known) => void,
): ((key: string, of: AppStretch) => Counting) => {
  const underWay = new Map<string, Counting>();
  const gate = semaphore(countsAtOnce);

  const countAll = async (key: string, of: AppStretch, soFar: Known): Promise<void> => {
    let next = await counts.nthBehind(of, "", most);
    while (next !== null) {
      soFar.count += most;
      soFar.upTo = next;
      next = await counts.nthBehind(of, next, most);
    }
    keep(key, soFar);
  };

  return (key, of) => {
    const before = underWay.get(key);
    if (before !== undefined) return before;
    const soFar = { count: 0, upTo: "", at: clock.now().getTime() };
    const done = gate
      .run(() => countAll(key, of, soFar))
      .catch((err: unknown) => log.warn({ err, app: of.appId }, "audience.not_counted"))
      .finally(() => underWay.delete(key));
    const begun = { soFar, done };
    underWay.set(key, begun);
    return begun;
  };
};
