import { retentionOf } from "#core/domain/analytics/retention.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs } from "#core/domain/durations.ts";
import { invalid } from "#core/errors.ts";
import { firstSeen, Retention, type RetentionQuery, session } from "#core/schema/analytics/retention.ts";
import { showAs } from "#core/schema/json/show.ts";
import type {
  PeopleQuestion,
  PeopleReportRow,
  PeopleReports,
  PeopleResult,
} from "#core/storage/analytics/people-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { definitionIdOf, type EventDefinitionRow, type EventDefinitions } from "#core/storage/events/definitions.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { type Asked, askedRange } from "./range.ts";

export type RetentionDeps = {
  reports: Pick<PeopleReports, "find" | "ask">;
  definitions: Pick<EventDefinitions, "withIds">;
  /** When the first session was kept. */
  firstSession: (of: OfApp) => Promise<Date | null>;
  limit: NarrowLimit;
  clock: Clock;
};

/**
 * Who came back, or how far people came. A job counts it once somebody asks, and again when they ask while that may have changed.
 * Source: docs/reference/analytics.md#retention.
 */
export const retention =
  (deps: RetentionDeps) =>
  async ({ plan }: Pick<Caller, "plan">, app: AppRow, query: RetentionQuery): Promise<Retention> => {
    await deps.limit("analytics.read", app._id);
    const now = deps.clock.now();
    const facts = { now, zone: settingsOf(app).time_zone, keptDays: plan.retention_days, unit: "quarter" as const };
    const asked = askedRange(query, facts);
    const question = questionOf(query, asked);
    const defined = await definedOf(deps, app, question);
    const known = await deps.reports.find(ofApp(app), question);
    if (isToBeCounted(known, question, now)) {
      await deps.limit("analytics.count", app._id);
      await deps.reports.ask(ofApp(app), question, now);
    }
    return showAs(Retention, {
      ...asked.range,
      timezone: asked.timezone,
      clamped: asked.clamped,
      complete_from: await completeFromOf(deps, app, { question, asked, defined, now }),
      ...shownOf(question, known, now),
    });
  };

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

const lateMs = 31 * dayMs; // events are taken so long after they happened

/** Never counted, or so early that more may have come since, and it rests no longer. */
const isToBeCounted = (known: PeopleReportRow | null, question: PeopleQuestion, now: Date): boolean => {
  if (known === null) return true;
  if (known.due_at !== null || known.rests_until > now) return false;
  return known.as_of === null || known.as_of.getTime() < endOf(question).getTime() + lateMs;
};

/** When the last thing happens that counts. */
const endOf = (question: PeopleQuestion): Date =>
  question.kind === "retention"
    ? retentionOf(question).end
    : new Date(question.range.to.getTime() + question.windowHours * 3_600_000);

type Facts = { question: PeopleQuestion; asked: Asked; defined: readonly EventDefinitionRow[]; now: Date };

const completeFromOf = async (
  { firstSession }: RetentionDeps,
  app: AppRow,
  { question, asked, defined, now }: Facts,
): Promise<Date> => {
  const kept = defined.flatMap(({ retention_days: days }) => (days === null ? [] : [now.getTime() - days * dayMs]));
  const bySessions = question.kind === "retention" && question.back === null;
  const sessionsBegun = bySessions ? ((await firstSession(ofApp(app))) ?? now).getTime() : 0;
  return new Date(Math.max(asked.completeFrom.getTime(), sessionsBegun, ...kept));
};

const shownOf = (question: PeopleQuestion, known: PeopleReportRow | null, now: Date) => {
  const result = known?.result ?? null;
  const isUnderWay = known === null || known.due_at !== null || isToBeCounted(known, question, now);
  const people = Math.max(0, (known?.progress?.done ?? 0) - (known?.read_before ?? 0));
  return {
    as_of: known?.as_of ?? null,
    progress: isUnderWay ? { people } : null,
    cohorts: result !== null && "cohorts" in result ? cohortsOf(result) : null,
    funnel: result !== null && "steps" in result && question.kind === "funnel" ? funnelOf(question, result) : null,
  };
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
