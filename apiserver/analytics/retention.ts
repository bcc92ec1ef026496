import { dayMs } from "#core/domain/durations.ts";
import { invalid } from "#core/errors.ts";
import { firstSeen, Retention, type RetentionQuery, session } from "#core/schema/analytics/retention.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { PeopleQuestion, PeopleResult } from "#core/storage/analytics/people-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { definitionIdOf, type EventDefinitionRow, type EventDefinitions } from "#core/storage/events/definitions.ts";
import type { Caller } from "../access/caller.ts";
import { type PeopleReportDeps, peopleReport } from "./people-report.ts";
import type { Asked } from "./range.ts";

export type RetentionDeps = PeopleReportDeps & { definitions: Pick<EventDefinitions, "withIds"> };

/** Who came back, or how far people came. Source: docs/reference/analytics.md#retention. */
export const retention =
  (deps: RetentionDeps) =>
  async (caller: Pick<Caller, "plan">, app: AppRow, query: RetentionQuery): Promise<Retention> => {
    const { question, result, members } = await peopleReport(deps)(caller, { app, query }, async (asked, now) => {
      const made = questionOf(query, asked);
      return { question: made, keptSince: keptSince(await definedOf(deps, app, made), now) };
    });
    return showAs(Retention, {
      ...members,
      cohorts: result !== null && "cohorts" in result ? cohortsOf(result) : null,
      funnel: result !== null && "steps" in result && question.kind === "funnel" ? funnelOf(question, result) : null,
    });
  };

/** Events of a definition are kept as long as that says. */
const keptSince = (defined: readonly EventDefinitionRow[], now: Date): Date =>
  new Date(
    Math.max(
      0,
      ...defined.flatMap(({ retention_days: days }) => (days === null ? [] : [now.getTime() - days * dayMs])),
    ),
  );

const ofFunnels = ["window_hours"] as const;
const ofCohorts = ["interval", "cohort", "return", "periods", "mode"] as const;

/** @throws ValidationError for members that do not belong together */
const questionOf = (query: RetentionQuery, { range, timezone }: Asked): PeopleQuestion => {
  const { steps, cohort = firstSeen, return: back = session } = query;
  const [others, kind] = steps === undefined ? [ofFunnels, "retention"] : [ofCohorts, "a funnel"];
  const other = others.find((name) => query[name] !== undefined);
  if (other !== undefined) throw invalid(other, `is no member of ${kind}: steps ask for a funnel`);
  if (steps !== undefined) return { kind: "funnel", range, steps, windowHours: query.window_hours ?? 168 };
  if (cohort !== firstSeen && back === session)
    throw invalid("return", `must name a custom event where cohort does: ${session} counts those of ${firstSeen}`);
  return {
    kind: "retention",
    range,
    zone: timezone,
    unit: query.interval ?? "day",
    periods: query.periods ?? 7,
    mode: query.mode ?? "calendar",
    cohort: cohort === firstSeen ? null : cohort,
    back: back === session ? null : back,
  };
};

/** The custom events that are asked about, by the places at which they are. */
const namesOf = (question: PeopleQuestion): [string, string][] => {
  if (question.kind === "funnel") return question.steps.map((name, n) => [`steps[${n}]`, name]);
  if (question.kind === "audience" || question.kind === "outcomes") return [];
  const { cohort, back } = question;
  return [
    ...(cohort === null ? [] : ([["cohort", cohort]] satisfies [string, string][])),
    ...(back === null ? [] : ([["return", back]] satisfies [string, string][])),
  ];
};

/** @throws ValidationError for an event that has never come */
const definedOf = async (
  { definitions }: RetentionDeps,
  app: AppRow,
  question: PeopleQuestion,
): Promise<EventDefinitionRow[]> => {
  const names = namesOf(question);
  const found = await definitions.withIds([...new Set(names.map(([, name]) => definitionIdOf(app._id, name)))]);
  const unknown = names.find(([, name]) => !found.some((one) => one.name === name));
  if (unknown !== undefined) throw invalid(unknown[0], "is no custom event that has come to the app");
  return found;
};

const cohortsOf = ({ cohorts }: Extract<PeopleResult, { cohorts: unknown }>) =>
  cohorts.map(({ at, size, retained }) => ({
    at: at.toISOString(),
    size,
    retained,
    rates: retained.map((count) => (count === null ? null : partOf(count, size))),
  }));

const funnelOf = (
  { steps, windowHours }: Extract<PeopleQuestion, { kind: "funnel" }>,
  result: Extract<PeopleResult, { steps: unknown }>,
) => ({
  window_hours: windowHours,
  steps: result.steps.map((step, n) => ({
    name: steps[n] ?? "",
    ...step,
    rate: partOf(step.reached, result.steps[0]?.reached ?? 0),
  })),
});

const partOf = (count: number, of: number): number | null => (of === 0 ? null : count / of);
