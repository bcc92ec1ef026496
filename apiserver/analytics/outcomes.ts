import { LRUCache } from "lru-cache";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { Clock } from "#core/domain/clock.ts";
import { invalid } from "#core/errors.ts";
import { type Outcome, Outcomes, type OutcomesQuery } from "#core/schema/analytics/outcomes.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { EventSum, EventSums, HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { definitionIdOf, type EventDefinitions } from "#core/storage/events/definitions.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { type Asked, askedRange } from "./range.ts";

export type OutcomesDeps = {
  sums: EventSums;
  definitions: Pick<EventDefinitions, "withIds">;
  limit: NarrowLimit;
  clock: Clock;
};

const mostKept = 1_000; // answers of some 5 KB
const keptMs = { past: 60_000, reachesNow: 2_000 };

/** How often custom events happened, and what their values come to. Source: docs/reference/analytics.md#outcomes. */
export const outcomes = ({ limit, clock, ...stores }: OutcomesDeps) => {
  const kept = new LRUCache<string, Outcomes>(atMostEntries(mostKept));
  return async ({ plan }: Pick<Caller, "plan">, app: AppRow, query: OutcomesQuery): Promise<Outcomes> => {
    await limit("analytics.read", app._id);
    const now = clock.now();
    const asked = askedRange(query, { now, zone: settingsOf(app).time_zone, keptDays: plan.retention_days });
    const key = JSON.stringify([app._id, asked.range, asked.previous, asked.timezone, asked.clamped, query]);
    const known = kept.get(key);
    if (known !== undefined) return known;
    const made = await answer(stores, app, { query, asked, now });
    kept.set(key, made, { ttl: asked.range.to >= now ? keptMs.reachesNow : keptMs.past });
    return made;
  };
};

type Question = { query: OutcomesQuery; asked: Asked; now: Date };

const answer = async (
  { sums, definitions }: Pick<OutcomesDeps, "sums" | "definitions">,
  app: AppRow,
  { query: { name: given, aggregation = "count" }, asked, now }: Question,
): Promise<Outcomes> => {
  const names = [...new Set(given)];
  const defined = await definitions.withIds(names.map((name) => definitionIdOf(app._id, name)));
  const unknown = names.findIndex((name) => !defined.some((one) => one.name === name));
  if (unknown !== -1) throw invalid(`name[${unknown}]`, "is no custom event that has come to the app");
  const of = ofApp(app);
  const [counted, before] = await Promise.all([
    sums.ofNames(of, names, asked.range),
    asked.previous && sums.ofNames(of, names, asked.previous),
  ]);
  const data = defined.map(({ name, is_conversion }) => ({
    name,
    is_conversion,
    ...compared(counted.get(name) ?? nothing, before?.get(name) ?? null),
  }));
  return showAs(Outcomes, {
    ...asked.range,
    timezone: asked.timezone,
    previous: asked.previous && shown(asked.previous),
    clamped: asked.clamped,
    as_of: now,
    complete_from: asked.completeFrom,
    data: data.toSorted((a, b) => b[aggregation] - a[aggregation] || (a.name < b.name ? -1 : 1)),
  });
};

const shown = ({ from, to }: HourRange) => ({ from: from.toISOString(), to: to.toISOString() });

const nothing: EventSum = { count: 0, sum: 0 };

const compared = ({ count, sum }: EventSum, previous: EventSum | null): Omit<Outcome, "name" | "is_conversion"> => ({
  attribution: "total",
  count,
  sum,
  previous,
  change: { count: changeOf(count, previous?.count), sum: changeOf(sum, previous?.sum) },
});

const changeOf = (after: number, before: number | undefined): number | null =>
  before === undefined || before === 0 ? null : (after - before) / before;
