import { type Static, Type } from "typebox";
import { Nullable } from "../json/common.ts";
import { named } from "../json/named.ts";

const { Enum, Integer, Number: Num, Object: Members } = Type;

/** What is counted of deliveries, each in the quarter of an hour in which it was made. Source: docs/reference/analytics.md#metrics. */
export const metrics = [
  "targeted",
  "suppressed",
  "sent",
  "delivered",
  "failed",
  "errored",
  "expired",
  "opened",
  "clicked",
  "converted",
  "bounced",
  "complained",
  "unsubscribed",
  "sms_segments",
  "conversion_value",
  "opens_total",
  "clicks_total",
  "machine_opens",
  "machine_clicks",
] as const;
export type Metric = (typeof metrics)[number];

/** What is made of them. Source: docs/reference/analytics.md#rates. */
export const rates = [
  "delivery_rate",
  "open_rate",
  "click_rate",
  "ctor",
  "conversion_rate",
  "bounce_rate",
  "complaint_rate",
  "unsubscribe_rate",
  "failure_rate",
] as const;
export type Rate = (typeof rates)[number];

const described: Partial<Record<Metric, string>> = {
  targeted: "deliveries that were made; one that still waits for its time is none yet",
  opened: "deliveries that a person opened; opens by programs are no part of it",
  sms_segments: "messages that texts were sent in",
  conversion_value: "what the values of all conversions come to that count for these deliveries, to a millionth",
  opens_total: "opens by people, each time; of each delivery 20 at most",
  clicks_total: "clicks by people, each time; of each delivery 20 at most",
  machine_opens: "deliveries that a program opened, such as a mail scanner",
  machine_clicks: "deliveries in which a program clicked",
};

/** Every metric. */
export const Metrics = Members(
  Object.fromEntries(
    metrics.map((name) => {
      const description = described[name];
      const of = { ...(description && { description }) };
      return [name, name === "conversion_value" ? Num(of) : Integer({ minimum: 0, ...of })];
    }),
  ) as Record<Metric, Type.TNumber>, // sound: its names are the metrics
);
export type Metrics = Static<typeof Metrics>;

/** Every rate, from 0 to 1; null where nothing could have been. */
export const Rates = Members({
  ...(Object.fromEntries(rates.map((name) => [name, Nullable(Num({ minimum: 0 }))])) as Record<
    Rate,
    Type.TUnion<[Type.TNumber, Type.TNull]>
  >), // sound: its names are the rates
  rate_basis: Enum(["delivered", "sent"], {
    description:
      "what opens, clicks, conversions, complaints and opt-outs are divided by: deliveries that arrived; all that " +
      "were sent where channels are among them whose providers do not tell what arrived",
  }),
});
export type Rates = Static<typeof Rates>;

named({ Metrics, Rates });
