import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Tallies } from "#core/domain/conversations/tally.ts";
import { lookMs } from "#core/storage/conversations/counts.ts";

export type Waiting = {
  /** Keeps how many conversations of an app wait for an answer. */
  counted: (appId: string, tallies: Tallies) => void;
  sum: () => number;
};

const mostApps = 50_000; // 100 bytes each

/**
 * How many conversations wait for an answer, of the apps that this process counted within ten minutes: one process counts all, each
 * app every five minutes at least, and what it counted is forgotten once another one does.
 */
export const waitingConversations = (nowMs: () => number = Date.now): Waiting => {
  const perf = { now: nowMs };
  const byApp = new LRUCache<string, number>({ ...atMostEntries(mostApps), ttl: 2 * lookMs, ttlResolution: 0, perf });
  return {
    counted: (appId, tallies) => {
      byApp.set(
        appId,
        Object.values(tallies).reduce((sum, { waiting }) => sum + waiting, 0),
      );
    },
    sum: () => {
      byApp.purgeStale();
      return [...byApp.values()].reduce((sum, count) => sum + count, 0);
    },
  };
};
