import { changeOf } from "#core/domain/analytics/metrics.ts";
import { dayMs } from "#core/domain/durations.ts";
import { invalid } from "#core/errors.ts";
import { type Outcome, Outcomes, type OutcomesQuery } from "#core/schema/analytics/outcomes.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Counted, EventSum, EventSums, HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { conversionsKeptDays } from "#core/storage/events/conversions.ts";
import { definitionIdOf, type EventDefinitions } from "#core/storage/events/definitions.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";
import { countedReport, type PeopleReportDeps } from "./people-report.ts";

type CountDeps = Pick<PeopleReportDeps, "reports" | "limit"> & {
  sums: EventSums;
  definitions: Pick<EventDefinitions, "withIds">;
  /** When conversions began to be counted by their attribution, and which are stored from before. */
  firstCounted: (of: OfApp) => Promise<Date | null>;
  oldestStored: (of: OfApp) => Promise<Date | null>;
};
export type OutcomesDeps = AnswersDeps & CountDeps;

/** How often custom events happened, and what their values come to. Source: docs/reference/analytics.md#outcomes. */
export const outcomes = (deps: OutcomesDeps) =>
  answering<OutcomesQuery, Outcomes>(deps, "hour", (app, question) => answer(deps, app, question));

const answer = async (deps: CountDeps, app: AppRow, question: Question<OutcomesQuery>): Promise<Outcomes> => {
  const { sums, definitions } = deps;
  const { query, asked, now } = question;
  const { name: given, aggregation = "count", attribution = "total" } = query;
  const names = [...new Set(given)];
  const defined = await definitions.withIds(names.map((name) => definitionIdOf(app._id, name)));
  const unknown = names.findIndex((name) => !defined.some((one) => one.name === name));
  if (unknown !== -1) throw invalid(`name[${unknown}]`, "is no custom event that has come to the app");
  const of = ofApp(app);
  const wanted = { names, counted: attribution };
  const [counted, before, completeFrom, people] = await Promise.all([
    sums.ofNames(of, wanted, asked.range),
    asked.previous && sums.ofNames(of, wanted, asked.previous),
    completeFromOf(deps, of, attribution, question),
    aggregation === "unique_users" ? peopleOf(deps, app, wanted, question) : notAsked,
  ]);
  const data = defined.map(({ name, is_conversion }) => ({
    name,
    is_conversion,
    attribution,
    ...compared(counted.get(name) ?? nothing, before?.get(name) ?? null),
    ...(people.found.get(name) ?? uncounted),
  }));
  return showAs(Outcomes, {
    ...asked.range,
    timezone: asked.timezone,
    previous: asked.previous && shown(asked.previous),
    clamped: asked.clamped,
    as_of: now,
    complete_from: completeFrom,
    people_as_of: people.asOf,
    progress: people.progress,
    data: data.toSorted((a, b) => (b[aggregation] ?? 0) - (a[aggregation] ?? 0) || (a.name < b.name ? -1 : 1)),
  });
};

type People = { found: ReadonlyMap<string, PeopleOfName>; asOf: Date | null; progress: Outcomes["progress"] };
type PeopleOfName = Pick<Outcome, "unique_users" | "by_message" | "by_channel">;
const uncounted: PeopleOfName = { unique_users: null, by_message: null, by_channel: null };
const notAsked: People = { found: new Map(), asOf: null, progress: null };

/** What a job has counted of people and messages, as far as it has. */
const peopleOf = async (
  deps: CountDeps,
  app: AppRow,
  { names, counted }: { names: string[]; counted: Counted },
  { asked: { range }, now }: Question<OutcomesQuery>,
): Promise<People> => {
  const question = { kind: "outcomes" as const, range, names: names.toSorted(), counted };
  const { known, progress } = await countedReport(deps, app, { question, now });
  const outcomes = known?.result && "outcomes" in known.result ? known.result.outcomes : [];
  return {
    found: new Map(outcomes.map(({ name, ...of }) => [name, { ...uncounted, ...of }])),
    asOf: known?.as_of ?? null,
    progress,
  };
};

/** Conversions of before they were counted are seen as long as they are stored. */
const completeFromOf = async (
  { firstCounted, oldestStored }: CountDeps,
  of: OfApp,
  counted: Counted,
  { asked: { completeFrom }, now }: Question<OutcomesQuery>,
): Promise<Date> => {
  if (counted === "total") return completeFrom;
  const [first, oldest] = await Promise.all([firstCounted(of), oldestStored(of)]);
  const begun = first ?? now;
  const areSeen = completeFrom.getTime() >= now.getTime() - conversionsKeptDays * dayMs;
  const areAllCounted = areSeen && (oldest === null || oldest >= begun);
  return areAllCounted || begun <= completeFrom ? completeFrom : begun;
};

const shown = ({ from, to }: HourRange) => ({ from: from.toISOString(), to: to.toISOString() });

const nothing: EventSum = { count: 0, sum: 0 };

const compared = (
  { count, sum }: EventSum,
  previous: EventSum | null,
): Pick<Outcome, "count" | "sum" | "previous" | "change"> => ({
  count,
  sum,
  previous,
  change: { count: changeOf(count, previous?.count), sum: changeOf(sum, previous?.sum) },
});
