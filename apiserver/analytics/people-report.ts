import { retentionOf } from "#core/domain/analytics/retention.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { dayMs, hourMs } from "#core/domain/durations.ts";
import type {
  Asking,
  PeopleQuestion,
  PeopleReportRow,
  PeopleReports,
  PeopleResult,
} from "#core/storage/analytics/people-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type OfApp, ofApp } from "#core/storage/mongo/collection.ts";
import type { Caller } from "../access/caller.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";
import { type Asked, askedRange, type RangeQuery } from "./range.ts";

export type PeopleReportDeps = {
  reports: Pick<PeopleReports, "find" | "ask">;
  /** When the first session was kept. */
  firstSession: (of: OfApp) => Promise<Date | null>;
  limit: NarrowLimit;
  clock: Clock;
};

/** What a question came to, as far as it is counted, and members of its answer. */
export type PeopleReport = {
  question: PeopleQuestion;
  result: PeopleResult | null;
  members: {
    from: Date;
    to: Date;
    timezone: string;
    clamped: boolean;
    complete_from: Date;
    as_of: Date | null;
    progress: { people: number } | null;
  };
};

/** `keptSince`: from when on all that a question is about is kept. */
export type MadeQuestion = { question: PeopleQuestion; keptSince?: Date };

/**
 * Answers a question about people from what a job has counted. It counts once somebody asks, and again when they ask while
 * that may have changed. Who names no range gets the one that was counted last. Source: docs/decisions/0203.
 */
export const peopleReport =
  (deps: PeopleReportDeps) =>
  async (
    { plan }: Pick<Caller, "plan">,
    { app, query }: { app: AppRow; query: RangeQuery },
    questionOf: (asked: Asked, now: Date) => Promise<MadeQuestion>,
  ): Promise<PeopleReport> => {
    await deps.limit("analytics.read", app._id);
    const now = deps.clock.now();
    const facts = { now, zone: settingsOf(app).time_zone, keptDays: plan.retention_days, unit: "quarter" as const };
    const asked = askedRange(query, facts);
    const { question, keptSince = asked.completeFrom } = await questionOf(asked, now);
    const asking = { isLatest: query.from === undefined && query.to === undefined };
    const { known, progress } = await countedReport(deps, app, { question, now, asking });
    const range = known?.result ? (known.counted ?? question).range : asked.range;
    const keptFrom = asked.completeFrom > asked.range.from ? asked.completeFrom : range.from;
    const since = [keptFrom, keptSince, await sessionsSince(deps, app, question, now)];
    return {
      question,
      result: known?.result ?? null,
      members: {
        ...range,
        timezone: asked.timezone,
        clamped: asked.clamped,
        complete_from: new Date(Math.max(...since.map((at) => at.getTime()))),
        as_of: known?.as_of ?? null,
        progress,
      },
    };
  };

/** What a question came to when it was counted last; has it counted, or counted again, where that is due. */
export const countedReport = async (
  { reports, limit }: Pick<PeopleReportDeps, "reports" | "limit">,
  app: AppRow,
  { question, now, asking }: { question: PeopleQuestion; now: Date; asking?: Asking },
): Promise<{ known: PeopleReportRow | null; progress: { people: number } | null }> => {
  const known = await reports.find(ofApp(app), question, asking);
  const isAsked = isToBeCounted(known, question, now);
  if (isAsked) {
    await limit("analytics.count", app._id);
    await reports.ask(ofApp(app), question, now, asking);
  }
  return { known, progress: isAsked || known?.due_at !== null ? { people: readOf(known) } : null };
};

const lateMs = 31 * dayMs; // events are taken so long after they happened

/** Never counted, or so early that more may have come since, and it rests no longer. */
const isToBeCounted = (known: PeopleReportRow | null, question: PeopleQuestion, now: Date): boolean => {
  if (known === null) return true;
  if (known.due_at !== null || known.rests_until > now) return false;
  return known.as_of === null || known.as_of.getTime() < endOf(question) + lateMs;
};

/** When the last thing happens that counts, ms. */
const endOf = (question: PeopleQuestion): number => {
  switch (question.kind) {
    case "audience":
      return Number.POSITIVE_INFINITY; // it says who is there now
    case "outcomes":
      return question.range.to.getTime();
    case "funnel":
      return question.range.to.getTime() + question.windowHours * hourMs;
    case "retention":
      return retentionOf(question).end.getTime();
  }
};

const sessionsSince = async (
  { firstSession }: PeopleReportDeps,
  app: AppRow,
  question: PeopleQuestion,
  now: Date,
): Promise<Date> => {
  if (question.kind !== "audience" && (question.kind !== "retention" || question.back !== null))
    return question.range.from;
  const never = question.kind === "audience" ? question.range.from : now; // an audience without sessions is not one that nobody knows
  return (await firstSession(ofApp(app))) ?? never;
};

/** People whom the count that is under way has read. */
const readOf = (known: PeopleReportRow | null): number =>
  Math.max(0, (known?.progress?.done ?? 0) - (known?.read_before ?? 0));
