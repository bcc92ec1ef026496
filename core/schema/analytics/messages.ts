import { type Static, Type } from "typebox";
import { Closed, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { PageOf, pagingOf } from "../json/page.ts";
import { messageSources } from "../messages/message.ts";
import { filterQuery } from "./deliveries.ts";
import { Metrics, metrics, Rates, rates } from "./metrics.ts";
import { analyticsLimits, quarterRangeQuery, rangeReply } from "./query.ts";

const { Enum, Object: Members, Optional, String: Text } = Type;

const { compare: _compare, ...plainRange } = quarterRangeQuery;
const { previous: _previous, ...plainReply } = rangeReply;

/** What is counted of a message: deliveries, and nothing that programs do. */
const {
  conversion_value: _value,
  opens_total: _opens,
  clicks_total: _clicks,
  machine_opens: _machineOpens,
  machine_clicks: _machineClicks,
  ...countsOfMessage
} = Metrics.properties;
export const MessageMetrics = Members(countsOfMessage);
export type MessageMetrics = Static<typeof MessageMetrics>;

const counted = metrics.filter((name): name is keyof MessageMetrics => Object.hasOwn(countsOfMessage, name));

/** What messages are added up by. */
const messageGroupings = ["message", "campaign_id", "template_id", "label"] as const;

export const analyticsMessagePaging = pagingOf({
  standard: 50,
  most: 100,
  keys: ["created_at", ...counted, ...rates],
  sort: "-created_at",
});

/** Query of `GET /v1/apps/{appId}/analytics/messages`. */
export const MessagesQuery = Closed({
  ...plainRange,
  ...filterQuery,
  group_by: Optional(
    Enum([...messageGroupings], {
      default: "message",
      description:
        "one item for each message that was accepted in the range, or for each campaign or template; `label`: for each " +
        `label of these messages, of which there may be ${analyticsLimits.sortedMessages} at most`,
    }),
  ),
  ...analyticsMessagePaging.pageQuery,
  sort: Optional(
    Enum([...analyticsMessagePaging.sortQuery.sort.enum], {
      description:
        "default -created_at; of campaigns and templates -targeted; messages are sorted by a metric or rate where a " +
        `range has ${analyticsLimits.sortedMessages} at most`,
    }),
  ),
});
export type MessagesQuery = Static<typeof MessagesQuery>;

/** What became of a message, or of those of a campaign, template or label. */
export const MessageTotals = Members({
  key: Text({
    description: "id of the message or template, the campaign or the label; `none`, `other`: as in a timeseries",
  }),
  name: Nullable(Text({ description: "of a message that has one" })),
  message_id: Nullable(Text({ description: "of a message alone" })),
  source: Nullable(Enum([...messageSources])),
  created_at: Nullable(Text({ format: "date-time" })),
  first_sent_at: Nullable(Text({ format: "date-time", description: "when its sending began; null before" })),
  totals: MessageMetrics,
  rates: Rates,
});
export type MessageTotals = Static<typeof MessageTotals>;

/** A page of them. */
export const MessageTotalsPage = Members({ ...plainReply, ...PageOf(MessageTotals).properties });
export type MessageTotalsPage = Static<typeof MessageTotalsPage>;

named({ MessageMetrics, MessageTotals, MessageTotalsPage });
