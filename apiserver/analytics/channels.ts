import { noMetrics, ratesOf } from "#core/domain/analytics/metrics.ts";
import { type DeliveryTimes, noTimes, timesOf } from "#core/domain/analytics/times.ts";
import { inUnits } from "#core/domain/analytics/values.ts";
import { Channels, type ChannelsQuery, filterQuery } from "#core/schema/analytics/deliveries.ts";
import { metrics } from "#core/schema/analytics/metrics.ts";
import { showAs } from "#core/schema/json/show.ts";
import { type Channel, channels } from "#core/schema/vocabulary/channels.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import { type AnswersDeps, answering } from "./answers.ts";
import { askedCells, type CountsDeps, needsAllFacts, rangeAxis, rangeMembers } from "./counts.ts";
import { totalsByChannel } from "./totals.ts";

/** What became of the deliveries of each channel. Source: docs/reference/analytics.md#channels. */
export const channelTotals = (deps: CountsDeps & AnswersDeps) =>
  answering<ChannelsQuery, Channels>(deps, "quarter", async (app, question) => {
    const { asked, query } = question;
    const [members, found, times] = await Promise.all([
      rangeMembers(deps, app, question, needsAllFacts(askedCells(query).table, metrics)),
      totalsByChannel(deps, app, asked.range, query),
      timesByChannel(deps, app, asked.range, query),
    ]);
    const data = channels.map((channel) => {
      const totals = found.get(channel) ?? noMetrics();
      return {
        channel,
        totals: inUnits(totals),
        rates: ratesOf(totals, [channel]),
        ...(times.get(channel) ?? noTimes),
      };
    });
    return showAs(Channels, { ...members, data });
  });

/** Times are counted by channel alone: nothing is said of them where more is asked for. */
const timesByChannel = async (
  { counters }: Pick<CountsDeps, "counters">,
  app: AppRow,
  range: HourRange,
  query: ChannelsQuery,
): Promise<ReadonlyMap<Channel, DeliveryTimes>> => {
  const others = Object.keys(filterQuery).filter((name) => name !== "channel");
  if (others.some((name) => Reflect.get(query, name) !== undefined)) return new Map();
  const axis = rangeAxis(range);
  const times = timesOf(await counters.list(ofApp(app), { table: "times", days: axis.days, metrics: null }), axis);
  return new Map([...times].filter(([channel]) => query.channel?.includes(channel) ?? true));
};
