import { addTo, noMetrics, ratesOf } from "#core/domain/analytics/metrics.ts";
import { Channels, type ChannelsQuery } from "#core/schema/analytics/deliveries.ts";
import { showAs } from "#core/schema/json/show.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import { type AnswersDeps, answering } from "./answers.ts";
import { type CountsDeps, isAsked, rangeMembers, readCounts } from "./counts.ts";

/** What became of the deliveries of each channel. Source: docs/reference/analytics.md#channels. */
export const channelTotals = (deps: CountsDeps & AnswersDeps) =>
  answering<ChannelsQuery, Channels>(deps, "quarter", async (app, question) => {
    const { from, to } = question.asked.range;
    const data = channels.map((channel) => ({ channel, totals: noMetrics() }));
    const totalsOf = new Map(data.map(({ channel, totals }) => [channel, totals]));
    const [members] = await Promise.all([
      rangeMembers(deps, app, question),
      readCounts(deps, app, [from, to], (_, { cells }, by) => {
        for (const cell of cells.filter((one) => isAsked(question.query, one)))
          addTo(totalsOf.get(cell.channel) ?? {}, cell.counts, by);
      }),
    ]);
    return showAs(Channels, {
      ...members,
      data: data.map(({ channel, totals }) => ({ channel, totals, rates: ratesOf(totals, [channel]) })),
    });
  });
