import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { messageSources } from "../messages/message.ts";
import { channels } from "../vocabulary/channels.ts";
import { ActiveUsers } from "./audience.ts";
import { type Metric, Metrics, metrics, Rates, rates } from "./metrics.ts";
import { analyticsLimits, quarterRangeQuery, rangeReply } from "./query.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Num, Object: Members, Optional, String: Text } = Type;

const name = (what: string) =>
  Optional(Text({ minLength: 1, maxLength: 128, description: `deliveries of messages of ${what} alone` }));

/** Which deliveries count; all that are named have to be true of one. */
export const filterQuery = {
  channel: Optional(
    List(Enum([...channels]), { minItems: 1, maxItems: channels.length, description: "left out: every channel" }),
  ),
  source: Optional(
    List(Enum([...messageSources]), {
      minItems: 1,
      maxItems: messageSources.length,
      description: "of which messages; left out: all",
    }),
  ),
  category: name("this category"),
  campaign_id: name("this campaign"),
  template_id: name("this template"),
  label: name("this label"),
  segment_id: name("this segment, by whose id they included it"),
};

/** Query of the overview. */
export const OverviewQuery = Closed({ ...quarterRangeQuery, ...filterQuery });
export type OverviewQuery = Static<typeof OverviewQuery>;

const change = "how much more than before, as a part of that: 0.5 is half more; null where that is 0 or unknown";
const Change = Members(
  Object.fromEntries(metrics.map((one) => [one, Nullable(Num())])) as Record<
    Metric,
    Type.TUnion<[Type.TNumber, Type.TNull]>
  >, // sound: its names are the metrics
  { description: change },
);

const comparedReply = {
  ...rangeReply,
  previous: Nullable(
    Members(
      { from: DateTime, to: DateTime, totals: Metrics, rates: Rates },
      {
        description: "the range that is compared with; null without one, or where it begins before what the plan keeps",
      },
    ),
  ),
};

/** What became of all deliveries of a range. */
export const Overview = Members({
  ...comparedReply,
  totals: Metrics,
  rates: Rates,
  change: Change,
  messages: Integer({ description: "messages that were accepted in the range, and whose sending has begun" }),
  active_subscriptions: Nullable(
    Integer({ description: "subscriptions that are subscribed, at `audience_as_of`, whatever the range is" }),
  ),
  active_users: Nullable(ActiveUsers),
  audience_as_of: Nullable(
    Text({ format: "date-time", description: "when these were counted: by a job, once somebody asks; null before" }),
  ),
});
export type Overview = Static<typeof Overview>;

/** What a timeseries is divided into. */
export const intervals = ["hour", "day", "week", "month", "hour_of_week"] as const;
export type Interval = (typeof intervals)[number];

/** What deliveries can be told apart by. */
export const groupings = [
  "channel",
  "source",
  "campaign_id",
  "template_id",
  "category",
  "provider",
  "label",
  "status",
] as const;
export type Grouping = (typeof groupings)[number];

const { compare: _compare, ...plainRange } = quarterRangeQuery;

/** Query of the timeseries. */
export const TimeseriesQuery = Closed({
  ...plainRange,
  ...filterQuery,
  metric: List(Enum([...metrics, ...rates]), {
    minItems: 1,
    maxItems: analyticsLimits.metrics,
    description: "metrics and rates, each a series",
  }),
  interval: Optional(
    Enum([...intervals], {
      default: "day",
      description:
        `by the clocks of \`timezone\`; \`hour\`: of ${analyticsLimits.hourlyDays} days at most; \`hour_of_week\`: ` +
        "the 168 hours of a week, from Mondays at midnight on",
    }),
  ),
  group_by: Optional(
    Enum([...groupings], {
      description:
        `a series for each of the ${analyticsLimits.groups} most frequent ones, and one of the others; \`label\`: one with several ` +
        "counts in each; `status`: of `targeted` alone",
    }),
  ),
});
export type TimeseriesQuery = Static<typeof TimeseriesQuery>;

const Point = Members({
  at: Text({
    description: "when the interval begins; of `hour_of_week` its day, 1 is Monday, and its hour: `1T13:00`",
  }),
  value: Nullable(Num({ description: "null: a rate of nothing" })),
});

const Series = Members({
  metric: Enum([...metrics, ...rates]),
  group: Nullable(
    Text({
      description: "`none`: of deliveries that have none; `other`: of all others; null when nothing is told apart",
    }),
  ),
  points: List(Point),
});
export type Series = Static<typeof Series>;

const { previous: _previous, ...plainReply } = rangeReply;

/** How metrics went. */
export const Timeseries = Members({ ...plainReply, interval: Enum([...intervals]), series: List(Series) });
export type Timeseries = Static<typeof Timeseries>;

/** Query of the channels. */
export const ChannelsQuery = Closed({ ...plainRange, ...filterQuery });
export type ChannelsQuery = Static<typeof ChannelsQuery>;

const took = (part: string) =>
  Nullable(
    Integer({
      description:
        `within how many ms ${part} of the deliveries arrived from when they were made, or of pushes were taken; within 2 %. Null ` +
        "without any, and where filters other than `channel` are named",
    }),
  );

const ChannelTotals = Members({
  channel: ChannelName,
  totals: Metrics,
  rates: Rates,
  median_delivery_ms: took("half"),
  p95_delivery_ms: took("95 %"),
});

/** What became of the deliveries of each channel. */
export const Channels = Members({ ...plainReply, data: List(ChannelTotals, { description: "one for each channel" }) });
export type Channels = Static<typeof Channels>;

/** Query of the failures. */
export const FailuresQuery = Closed({
  ...plainRange,
  ...filterQuery,
  group_by: Optional(
    Enum(["error_code", "provider", "domain", "country"], {
      default: "error_code",
      description:
        "what they are told apart by; `domain`: mails alone, by the domain of their address; `country`: messages to phones alone, by that of their number",
    }),
  ),
});
export type FailuresQuery = Static<typeof FailuresQuery>;

const Failed = Members({
  key: Text({
    description:
      "the code, the provider, the domain or the country (ISO 3166-1 alpha-2); `none`: of none; `other`: of all others",
  }),
  channel: ChannelName,
  count: Integer({ description: "deliveries that failed, bounced or expired" }),
  share: Num({ description: "of all of these in the range" }),
  last_at: DateTime,
  sample_message: Text({ description: "one of their messages" }),
  retryable: Nullable(Flag({ description: "whether another attempt may help; null for more than one code" })),
  advice: Nullable(Text({ description: "what to do; null for more than one code" })),
});

/** Why deliveries did not arrive. */
export const Failures = Members({
  ...plainReply,
  data: List(Failed, { description: "the most frequent first" }),
  suppressed: List(Members({ reason: Text(), count: Integer() }), {
    description: "why others were not attempted, on purpose; the most frequent first",
  }),
});
export type Failures = Static<typeof Failures>;

named({ Overview, Timeseries, Channels, Failures });
