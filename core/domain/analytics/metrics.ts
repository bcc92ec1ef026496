import { type Metric, type Metrics, metrics, type Rate, type Rates } from "../../schema/analytics/metrics.ts";
import { type Channel, isContact } from "../../schema/vocabulary/channels.ts";

/** Metrics that are not zero. */
export type Counted = Partial<Metrics>;

const zeros = Object.fromEntries(metrics.map((name) => [name, 0])) as Metrics; // sound: has them all
export const noMetrics = (): Metrics => ({ ...zeros }); // a timeseries has thousands

/** Adds, in place. */
export const addTo = (sum: Counted, more: Counted): void => {
  for (const name of metrics) {
    const count = more[name] ?? 0;
    if (count !== 0) sum[name] = (sum[name] ?? 0) + count;
  }
};

/** Metrics of each channel. */
export type ByChannel = ReadonlyMap<Channel, Metrics>;

/** Those of all channels together. */
export const totalOf = (all: ByChannel): Metrics => {
  const totals = noMetrics();
  for (const one of all.values()) addTo(totals, one);
  return totals;
};

/** Channels that have deliveries. */
export const channelsIn = (all: ByChannel): Channel[] =>
  [...all].flatMap(([channel, { targeted }]) => (targeted > 0 ? [channel] : []));

/** What has to be counted for a metric or rate. */
export const countedFor = (asked: Metric | Rate): readonly Metric[] =>
  Object.hasOwn(parts, asked) ? [...parts[asked as Rate], "targeted"] : [asked as Metric]; // sound: it is one or the other

const among = ["sent", "delivered"] as const;
const parts: Readonly<Record<Rate, readonly Metric[]>> = {
  delivery_rate: among,
  open_rate: ["opened", ...among],
  click_rate: ["clicked", ...among],
  ctor: ["clicked", "opened"],
  conversion_rate: ["converted", ...among],
  bounce_rate: ["bounced", "sent"],
  complaint_rate: ["complained", ...among],
  unsubscribe_rate: ["unsubscribed", ...among],
  failure_rate: ["failed", "errored", "sent"],
};

/** What is made of metrics of some channels. Source: docs/reference/analytics.md#rates. */
export const ratesOf = (of: Metrics, channels: Iterable<Channel>): Rates => {
  const basis = basisOf(channels);
  const base = of[basis];
  return {
    delivery_rate: ratio(of.delivered, of.sent),
    open_rate: ratio(of.opened, base),
    click_rate: ratio(of.clicked, base),
    ctor: ratio(of.clicked, of.opened),
    conversion_rate: ratio(of.converted, base),
    bounce_rate: ratio(of.bounced, of.sent),
    complaint_rate: ratio(of.complained, base),
    unsubscribe_rate: ratio(of.unsubscribed, base),
    failure_rate: ratio(of.failed + of.errored, of.sent + of.failed + of.errored),
    rate_basis: basis,
  };
};

/** Push services do not tell what arrived: that a device opened it is all that is known. */
const basisOf = (channels: Iterable<Channel>): Rates["rate_basis"] =>
  [...channels].every(isContact) ? "delivered" : "sent";

const ratio = (part: number, of: number): number | null => (of === 0 ? null : part / of);

/** How much more than before, as a part of that; null where that is 0 or unknown. */
export const changeOf = (after: number, before: number | undefined): number | null =>
  before === undefined || before === 0 ? null : (after - before) / before;
