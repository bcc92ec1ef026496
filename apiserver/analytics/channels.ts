import { noMetrics, ratesOf } from "#core/domain/analytics/metrics.ts";
import { inUnits } from "#core/domain/analytics/values.ts";
import { Channels, type ChannelsQuery } from "#core/schema/analytics/deliveries.ts";
import { showAs } from "#core/schema/json/show.ts";
import { channels } from "#core/schema/vocabulary/channels.ts";
import { type AnswersDeps, answering } from "./answers.ts";
import { type CountsDeps, rangeMembers } from "./counts.ts";
import { totalsByChannel } from "./totals.ts";

/** What became of the deliveries of each channel. Source: docs/reference/analytics.md#channels. */
export const channelTotals = (deps: CountsDeps & AnswersDeps) =>
  answering<ChannelsQuery, Channels>(deps, "quarter", async (app, question) => {
    const [members, found] = await Promise.all([
      rangeMembers(deps, app, question),
      totalsByChannel(deps, app, question.asked.range, question.query),
    ]);
    const data = channels.map((channel) => {
      const totals = found.get(channel) ?? noMetrics();
      return { channel, totals: inUnits(totals), rates: ratesOf(totals, [channel]) };
    });
    return showAs(Channels, { ...members, data });
  });
