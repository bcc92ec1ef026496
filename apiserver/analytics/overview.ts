import {
  addChannel,
  addTo,
  type ByChannel,
  changeOf,
  channelsIn,
  noMetrics,
  ratesOf,
} from "#core/domain/analytics/metrics.ts";
import { Overview, type OverviewQuery } from "#core/schema/analytics/deliveries.ts";
import { type Metrics, metrics } from "#core/schema/analytics/metrics.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type AnswersDeps, answering, type Question } from "./answers.ts";
import { type CountsDeps, isAsked, rangeMembers, readCounts, shownRange } from "./counts.ts";

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

const totalsOf = async (deps: CountsDeps, app: AppRow, { from, to }: HourRange, { query }: Question<OverviewQuery>) => {
  const totals = noMetrics();
  const channels: ByChannel = new Map();
  await readCounts(deps, app, [from, to], (_, { cells }, by) => {
    for (const cell of cells.filter((one) => isAsked(query, one))) {
      addTo(totals, cell.counts, by);
      addChannel(channels, cell.channel, by * (cell.counts.targeted ?? 0));
    }
  });
  return { totals, rates: ratesOf(totals, query.channel ?? channelsIn(channels)) };
};

const changesOf = (after: Metrics, before: Metrics | undefined): Overview["change"] =>
  Object.fromEntries(metrics.map((name) => [name, changeOf(after[name], before?.[name])])) as Overview["change"]; // sound: has them all
