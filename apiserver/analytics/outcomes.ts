import { changeOf } from "#core/domain/analytics/metrics.ts";
import { invalid } from "#core/errors.ts";
import { type Outcome, Outcomes, type OutcomesQuery } from "#core/schema/analytics/outcomes.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { EventSum, EventSums, HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { definitionIdOf, type EventDefinitions } from "#core/storage/events/definitions.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";

export type OutcomesDeps = AnswersDeps & { sums: EventSums; definitions: Pick<EventDefinitions, "withIds"> };

/** How often custom events happened, and what their values come to. Source: docs/reference/analytics.md#outcomes. */
export const outcomes = ({ sums, definitions, ...deps }: OutcomesDeps) =>
  answering<OutcomesQuery, Outcomes>(deps, "hour", (app, question) => answer({ sums, definitions }, app, question));

const answer = async (
  { sums, definitions }: Pick<OutcomesDeps, "sums" | "definitions">,
  app: AppRow,
  { query: { name: given, aggregation = "count" }, asked, now }: Question<OutcomesQuery>,
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
