import type { Audience } from "#core/schema/analytics/audience.ts";
import type { Channels, Failures, Overview, Timeseries } from "#core/schema/analytics/deliveries.ts";
import type { MessageReport } from "#core/schema/analytics/message-report.ts";
import type { MessageTotals } from "#core/schema/analytics/messages.ts";
import type { Metrics, Rates } from "#core/schema/analytics/metrics.ts";
import type { Outcome, Outcomes } from "#core/schema/analytics/outcomes.ts";
import type { Retention } from "#core/schema/analytics/retention.ts";
import { exampleTime, examples as refs } from "#core/schema/events/refs.ts";
import type { Docs } from "../http/feature.ts";
import { pathPart } from "../http/openapi/parameters.ts";

const outcome: Outcome = {
  name: "order_completed",
  is_conversion: true,
  attribution: "total",
  count: 1_200,
  sum: 48_210.5,
  previous: { count: 1_000, sum: 41_002 },
  change: { count: 0.2, sum: 0.1758 },
  unique_users: 941,
  by_message: [{ message_id: "msg_01J9ZK3V8Q4M2N7R5T6W8X0Y1Z", count: 310, sum: 12_080 }],
  by_channel: [
    { channel: "email", count: 290, sum: 11_400 },
    { channel: "ios_push", count: 185, sum: 7_020 },
  ],
};

const outcomes: Outcomes = {
  from: "2026-11-01T00:00:00.000Z",
  to: "2026-11-15T00:00:00.000Z",
  timezone: "UTC",
  previous: { from: "2026-10-18T00:00:00.000Z", to: "2026-11-01T00:00:00.000Z" },
  clamped: false,
  as_of: exampleTime,
  complete_from: "2026-11-01T00:00:00.000Z",
  people_as_of: exampleTime,
  progress: null,
  data: [outcome],
};

const totals: Metrics = {
  targeted: 1_020,
  suppressed: 20,
  sent: 1_000,
  delivered: 980,
  failed: 0,
  errored: 0,
  expired: 0,
  opened: 420,
  clicked: 90,
  converted: 12,
  bounced: 20,
  complained: 1,
  unsubscribed: 3,
  sms_segments: 0,
  conversion_value: 249.9,
  opens_total: 610,
  clicks_total: 104,
  machine_opens: 130,
  machine_clicks: 4,
};

const rates: Rates = {
  delivery_rate: 0.98,
  open_rate: 0.4286,
  click_rate: 0.0918,
  ctor: 0.2143,
  conversion_rate: 0.0122,
  bounce_rate: 0.02,
  complaint_rate: 0.001,
  unsubscribe_rate: 0.0031,
  failure_rate: 0,
  rate_basis: "delivered",
};

const { previous: _previous, data: _data, people_as_of: _people, progress: _progress, ...plain } = outcomes;

const overview: Overview = {
  ...plain,
  previous: { from: "2026-10-18T00:00:00.000Z", to: "2026-11-01T00:00:00.000Z", totals, rates },
  totals,
  rates,
  change: { ...totals, ...Object.fromEntries(Object.keys(totals).map((name) => [name, 0])), failed: null },
  messages: 31,
  active_subscriptions: 1_300,
  active_users: { dau: 310, wau: 620, mau: 880 },
  audience_as_of: exampleTime,
};

const timeseries: Timeseries = {
  ...plain,
  interval: "day",
  series: [{ metric: "sent", group: null, points: [{ at: "2026-11-01T00:00:00.000Z", value: 1_000 }] }],
};

const channels: Channels = {
  ...plain,
  data: [{ channel: "email", totals, rates, median_delivery_ms: 2_900, p95_delivery_ms: 9_700 }],
};

const failures: Failures = {
  ...plain,
  data: [
    {
      key: "HARD_BOUNCE",
      channel: "email",
      count: 20,
      share: 1,
      last_at: exampleTime,
      sample_message: "msg_01J9ZK3V8Q4M2N7R5T6W8X0Y1Z",
      retryable: false,
      advice: "Nothing: there is no such mailbox, and its address is suppressed from now on.",
    },
  ],
  suppressed: [{ reason: "frequency_cap", count: 20 }],
};

const {
  conversion_value: _value,
  opens_total: _opens,
  clicks_total: _clicks,
  machine_opens: _machineOpens,
  machine_clicks: _machineClicks,
  ...messageMetrics
} = totals;

const messageTotals: MessageTotals = {
  key: "msg_01J9ZK3V8Q4M2N7R5T6W8X0Y1Z",
  name: "Spring sale",
  message_id: "msg_01J9ZK3V8Q4M2N7R5T6W8X0Y1Z",
  source: "campaign",
  created_at: exampleTime,
  first_sent_at: exampleTime,
  totals: messageMetrics,
  rates,
};

const report: MessageReport = {
  message: {
    id: messageTotals.key,
    name: messageTotals.name,
    source: "campaign",
    status: "completed",
    created_at: exampleTime,
    first_sent_at: exampleTime,
    completed_at: exampleTime,
  },
  as_of: exampleTime,
  totals: messageMetrics,
  rates,
  variants: [
    {
      id: "a",
      name: "control",
      is_control: true,
      is_winner: false,
      totals: messageMetrics,
      rates,
      uplift: null,
      uplift_ci: null,
      confidence: null,
    },
  ],
  verdict: null,
  parts: {
    as_of: exampleTime,
    by_channel: [{ channel: "email", totals, rates }],
    by_platform: [],
    failures: [{ error_code: "HARD_BOUNCE", channel: "email", count: 20 }],
    suppressions: [{ reason: "frequency_cap", count: 20 }],
    links: [{ url: "https://example.com/spring", unique_clicks: 90, total_clicks: 104 }],
    buttons: [{ id: "buy", clicks: 12 }],
    latency: [
      {
        channel: "email",
        sent: { median_ms: 210, p95_ms: 480 },
        delivered: { median_ms: 2_100, p95_ms: 14_200 },
      },
    ],
    series: [{ at: exampleTime, sent: 1_000, delivered: 980, opened: 310, clicked: 71, converted: 9 }],
  },
};

const retention: Retention = {
  ...plain,
  progress: null,
  cohorts: [{ at: "2026-11-01T00:00:00.000Z", size: 400, retained: [310, 120, null], rates: [0.775, 0.3, null] }],
  funnel: null,
};

const funnel: Retention = {
  ...retention,
  cohorts: null,
  funnel: {
    window_hours: 168,
    steps: [
      { name: "looked", reached: 1_000, lost: 0, pending: 0, rate: 1, median_ms: null, p90_ms: null },
      { name: "bought", reached: 120, lost: 800, pending: 80, rate: 0.12, median_ms: 310_000, p90_ms: 7_200_000 },
    ],
  },
};

const statuses = { subscriptions: 1_500, subscribed: 1_300, unsubscribed: 150, invalid: 50 };

const audience: Audience = {
  ...plain,
  progress: null,
  current: {
    users: 1_000,
    active_users: { dau: 310, wau: 620, mau: 880 },
    ...statuses,
    by_channel: [{ channel: "email", ...statuses }],
  },
  groups: [{ key: "de", count: 700 }],
  series: [
    {
      at: "2026-11-01T00:00:00.000Z",
      new_users: 12,
      new_subscriptions: 18,
      unsubscribed: 4,
      invalidated: 2,
      reactivated: 1,
      net: 12,
      active_users: 310,
    },
  ],
};

/** What the OpenAPI document says of analytics beside its operations. */
export const docs: Docs = {
  tags: { Analytics: "What happened in an app, by its counts." },
  examples: {
    Metrics: [totals],
    Rates: [rates],
    Overview: [overview],
    Timeseries: [timeseries],
    Channels: [channels],
    Failures: [failures],
    MessageMetrics: [messageMetrics],
    MessageTotals: [messageTotals],
    MessageTotalsPage: [{ ...plain, data: [messageTotals], next_cursor: null, has_more: false }],
    MessageReport: [report],
    RecountRange: [{ from: "2026-11-01T00:00:00Z", to: "2026-11-02T00:00:00Z" }],
    Recount: [
      {
        from: "2026-11-01T00:00:00.000Z",
        to: "2026-11-02T00:00:00.000Z",
        quarters: 41,
        asked_at: "2026-07-21T09:30:00.000Z",
      },
    ],
    Outcome: [outcome],
    Outcomes: [outcomes],
    Audience: [audience],
    Retention: [retention, funnel],
  },
  pathParameters: { messageId: pathPart("id of a notification", refs.message_id) },
  queryExamples: {
    from: "2026-11-01T00:00:00Z",
    to: "2026-11-15T00:00:00Z",
    timezone: "Europe/Berlin",
    name: ["order_completed"],
    cohort: "signed_up",
    return: "order_completed",
    steps: ["looked", "order_completed"],
    periods: 12,
    window_hours: 48,
    metric: ["sent", "open_rate"],
    category: "news",
    campaign_id: "spring-sale",
    template_id: "tpl_01JDKQ4WSM3B9F0D5K7H2WTEMP",
    label: "black-friday",
    segment_id: "seg_01JDKQ4WSM3B9F0D5K7H2WTEMP",
  },
};
