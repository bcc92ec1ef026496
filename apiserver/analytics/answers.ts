import { LRUCache } from "lru-cache";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { type Asked, askedRange, type RangeQuery, type RangeUnit } from "./range.ts";

export type AnswersDeps = { limit: NarrowLimit; clock: Clock };

/** What is asked, of which range, and when. */
export type Question<Query> = { query: Query; asked: Asked; now: Date; keptDays: number };

/** What a job is counting may be there a moment later. */
const isUnderWay = (made: { progress?: unknown }): boolean => (made.progress ?? null) !== null;

const mostKept = 16_000_000; // characters; most answers have some thousands, a timeseries a million at most
const keptMs = { past: 60_000, reachesNow: 2_000 };

/**
 * Answers questions about a range, as often as an app may ask. An answer is kept for a while and given again to the same
 * question. Source: docs/reference/analytics.md#freshness.
 */
export const answering = <Query extends RangeQuery, Answer extends object>(
  { limit, clock }: AnswersDeps,
  unit: RangeUnit,
  answer: (app: AppRow, question: Question<Query>) => Promise<Answer>,
) => {
  const kept = new LRUCache<string, Answer>({
    maxSize: mostKept,
    sizeCalculation: (made) => JSON.stringify(made).length,
  });
  return async ({ plan }: Pick<Caller, "plan">, app: AppRow, query: Query): Promise<Answer> => {
    await limit("analytics.read", app._id);
    const now = clock.now();
    const asked = askedRange(query, { now, zone: settingsOf(app).time_zone, keptDays: plan.retention_days, unit });
    const key = JSON.stringify([app._id, asked.range, asked.previous, asked.timezone, asked.clamped, query]);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = await answer(app, { query, asked, now, keptDays: plan.retention_days });
    if (!isUnderWay(made)) kept.set(key, made, { ttl: asked.range.to >= now ? keptMs.reachesNow : keptMs.past });
    return made;
  };
};
