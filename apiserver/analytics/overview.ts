import { changeOf, channelsIn, ratesOf, totalOf } from "#core/domain/analytics/metrics.ts";
import { Overview, type OverviewQuery } from "#core/schema/analytics/deliveries.ts";
import { type Metrics, metrics } from "#core/schema/analytics/metrics.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";
import { type CountsDeps, rangeMembers, shownRange } from "./counts.ts";
import { totalsByChannel } from "./totals.ts";

/** What became of all deliveries of a range, and of the one before. Source: docs/reference/analytics.md#overview. */
export const overview = (deps: CountsDeps & AnswersDeps) =>
  answering<OverviewQuery, Overview>(deps, "quarter", async (app, question) => {
    const { range, previous } = question.asked;
    const [members, now, before] = await Promise.all([
      rangeMembers(deps, app, question),
      totalsOf(deps, app, range, question),
      previous && totalsOf(deps, app, previous, question),
    ]);
    return showAs(Overview, {
      ...members,
      ...now,
      previous: previous && before && { ...shownRange(previous), ...before },
      change: changesOf(now.totals, before?.totals),
    });
  });

const totalsOf = async (deps: CountsDeps, app: AppRow, range: HourRange, { query }: Question<OverviewQuery>) => {
  const found = await totalsByChannel(deps, app, range, query);
  const totals = totalOf(found);
  return { totals, rates: ratesOf(totals, query.channel ?? channelsIn(found)) };
};

const changesOf = (after: Metrics, before: Metrics | undefined): Overview["change"] =>
  Object.fromEntries(metrics.map((name) => [name, changeOf(after[name], before?.[name])])) as Overview["change"]; // sound: has them all
