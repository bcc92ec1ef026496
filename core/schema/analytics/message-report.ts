import { type Static, Type } from "typebox";
import { ChannelName, Closed, DateTime, Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";
import { patterns } from "../json/patterns.ts";
import { messageSources, messageStatuses } from "../messages/message.ts";
import { Verdict } from "../messages/winner.ts";
import { platforms } from "../vocabulary/channels.ts";
import { MessageMetrics } from "./messages.ts";
import { Metrics, Rates } from "./metrics.ts";

const { Array: List, Boolean: Flag, Enum, Integer, Number: Num, Object: Members, Optional, String: Text } = Type;

/** Query of `GET /v1/apps/{appId}/analytics/messages/{messageId}`. */
export const MessageReportQuery = Closed({
  interval: Optional(
    Enum(["minute", "hour", "day"], {
      default: "hour",
      description: "of `parts.series`: minutes of the first day, hours of the first 30 days, days of the first 399",
    }),
  ),
  timezone: Optional(
    Text({
      minLength: 1,
      maxLength: 64,
      pattern: patterns.timeZone,
      description: "IANA name, by whose clocks hours and days begin; left out: that of the app",
    }),
  ),
});
export type MessageReportQuery = Static<typeof MessageReportQuery>;

const Pair = List(Num(), { minItems: 2, maxItems: 2 });

const Variant = Members({
  id: Text(),
  name: Text(),
  is_control: Flag(),
  is_winner: Flag(),
  totals: MessageMetrics,
  rates: Rates,
  uplift: Nullable(
    Num({ description: "of conversions over the control, or else the first variant, as a part of its rate" }),
  ),
  uplift_ci: Nullable(Pair),
  confidence: Nullable(
    Num({
      minimum: 0,
      maximum: 1,
      description:
        "that both differ at all: 1 without the p of a two-sided z-test with Yates's correction, looked at once",
    }),
  ),
});

const Percentiles = Members({ median_ms: Nullable(Integer()), p95_ms: Nullable(Integer()) });

const Parts = Members({
  as_of: DateTime,
  by_channel: List(Members({ channel: ChannelName, totals: Metrics, rates: Rates })),
  by_platform: List(Members({ platform: Enum([...platforms]), totals: Metrics }), {
    description: "of pushes, which say by their channel what device they are for",
  }),
  failures: List(Members({ error_code: Text(), channel: ChannelName, count: Integer() }), {
    description: "deliveries that failed, bounced or expired; the most frequent first",
  }),
  suppressions: List(Members({ reason: Text(), count: Integer() })),
  links: List(
    Members({
      url: Text(),
      unique_clicks: Integer({ description: "deliveries in which it was clicked" }),
      total_clicks: Integer({ description: "clicks, each time; of each delivery 20 at most" }),
    }),
    { description: "by people, without what follows a question mark; 50 at most" },
  ),
  buttons: List(Members({ id: Text(), clicks: Integer() }), {
    description: "deliveries in which it was clicked; 20 at most",
  }),
  latency: List(
    Members({
      channel: ChannelName,
      sent: Percentiles,
      delivered: Percentiles,
    }),
    { description: "`sent`: from the delivery's making; `delivered`: from its sending. Within 2 %" },
  ),
  series: List(
    Members({
      at: DateTime,
      sent: Integer(),
      delivered: Integer(),
      opened: Integer(),
      clicked: Integer(),
      converted: Integer(),
    }),
    {
      description:
        "deliveries by when it happened, the first time of each, from the making of the message to the last that did; " +
        "an interval without any has zeros",
    },
  ),
});

/** What a report says of its message itself. */
export const ReportedMessage = Members({
  id: Text(),
  name: Nullable(Text()),
  source: Enum([...messageSources]),
  status: Enum([...messageStatuses]),
  created_at: DateTime,
  first_sent_at: Nullable(DateTime),
  completed_at: Nullable(DateTime),
});

/** What became of one message. */
export const MessageReport = Members({
  message: ReportedMessage,
  as_of: DateTime,
  totals: MessageMetrics,
  rates: Rates,
  variants: Nullable(List(Variant)),
  verdict: Nullable(Verdict),
  parts: Nullable(Parts),
});
export type MessageReport = Static<typeof MessageReport>;

named({ MessageReport });
