import { changeOf, channelsIn, ratesOf, totalOf } from "#core/domain/analytics/metrics.ts";
import { type MessageCell, messageOfKey } from "#core/domain/analytics/tables.ts";
import { inUnits } from "#core/domain/analytics/values.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import { Overview, type OverviewQuery } from "#core/schema/analytics/deliveries.ts";
import { type Metrics, metrics } from "#core/schema/analytics/metrics.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { PeopleReports } from "#core/storage/analytics/people-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";
import { audienceQuestion } from "./audience.ts";
import {
  askedCells,
  type CountsDeps,
  needsAllFacts,
  rangeAxis,
  rangeMembers,
  readCounts,
  shownRange,
} from "./counts.ts";
import { askedRange } from "./range.ts";
import { totalsByChannel } from "./totals.ts";

export type OverviewDeps = CountsDeps & AnswersDeps & { reports: Pick<PeopleReports, "find" | "ask"> };

/** What became of all deliveries of a range, and of the one before. Source: docs/reference/analytics.md#overview. */
export const overview = (deps: OverviewDeps) =>
  answering<OverviewQuery, Overview>(deps, "quarter", async (app, question) => {
    const { range, previous } = question.asked;
    const [members, now, before, messages, audience] = await Promise.all([
      rangeMembers(deps, app, question, needsAllFacts(askedCells(question.query).table, metrics)),
      totalsOf(deps, app, range, question),
      previous && totalsOf(deps, app, previous, question),
      messagesOf(deps, app, range, question),
      audienceOf(deps, app, question),
    ]);
    return showAs(Overview, {
      ...members,
      ...now,
      previous: previous && before && { ...shownRange(previous), ...before },
      change: changesOf(now.totals, before?.totals),
      messages,
      ...audience,
    });
  });

const messagesOf = async (
  deps: CountsDeps,
  app: AppRow,
  range: HourRange,
  { query }: Question<OverviewQuery>,
): Promise<number> => {
  const groupOf = (key: string): string | null => (isAsked(query, messageOfKey(key)) ? "all" : null);
  const found = await readCounts(deps, app, {
    table: "messages",
    axis: rangeAxis(range),
    metrics: ["count"],
    groupOf,
  });
  return found.get("all")?.[0] ?? 0;
};

/** Whether messages are over a channel that is asked for, and fit all else. */
const isAsked = (query: OverviewQuery, of: Omit<MessageCell, "count">): boolean =>
  (query.channel?.some((channel) => of.channels.includes(channel)) ?? true) &&
  (query.source?.includes(of.source) ?? true) &&
  (["category", "campaign_id", "template_id"] as const).every(
    (name) => query[name] === undefined || query[name] === of[name],
  ) &&
  (query.label === undefined || of.labels.includes(query.label)) &&
  (query.segment_id === undefined || of.segment_ids.includes(query.segment_id));

/** Who is there, as it was counted last; it is counted again once somebody asks after a while. */
const audienceOf = async (
  { reports }: Pick<OverviewDeps, "reports">,
  app: AppRow,
  { now, keptDays }: Question<OverviewQuery>,
) => {
  const zone = settingsOf(app).time_zone;
  const { range } = askedRange({}, { now, zone, keptDays, unit: "quarter" });
  const question = audienceQuestion({ range, zone, unit: "day", grouping: null });
  const known = await reports.find(ofApp(app), question, { isLatest: true });
  if (known === null || (known.due_at === null && known.rests_until <= now))
    await reports.ask(ofApp(app), question, now, { isLatest: true });
  const counts = known?.result && "audience" in known.result ? known.result.audience : null;
  const subscribed = counts?.by_channel.reduce((sum, one) => sum + one.subscribed, 0);
  return {
    active_subscriptions: subscribed ?? null,
    active_users: counts?.active ?? null,
    audience_as_of: counts && (known?.as_of ?? null),
  };
};

const totalsOf = async (deps: CountsDeps, app: AppRow, range: HourRange, { query }: Question<OverviewQuery>) => {
  const found = await totalsByChannel(deps, app, range, query);
  const totals = totalOf(found);
  return { totals: inUnits(totals), rates: ratesOf(totals, query.channel ?? channelsIn(found)) };
};

const changesOf = (after: Metrics, before: Metrics | undefined): Overview["change"] =>
  Object.fromEntries(metrics.map((name) => [name, changeOf(after[name], before?.[name])])) as Overview["change"]; // sound: has them all
