import { type Metric, type Metrics, metrics, type Rates } from "../../schema/analytics/metrics.ts";
import { type Channel, isContact } from "../../schema/vocabulary/channels.ts";

/** Metrics that are not zero. */
export type Counted = Partial<Metrics>;

export const noMetrics = (): Metrics => Object.fromEntries(metrics.map((name) => [name, 0])) as Metrics; // sound: has them all

/** Adds, in place. */
export const addTo = (sum: Counted, more: Counted, by: 1 | -1 = 1): void => {
  for (const [name, count] of Object.entries(more) as [Metric, number][]) sum[name] = (sum[name] ?? 0) + by * count;
};

/** How many deliveries are of which channel. */
export type ByChannel = Map<Channel, number>;

/** Those of a channel more, or less. */
export const addChannel = (sum: ByChannel, channel: Channel, targeted: number): void => {
  sum.set(channel, (sum.get(channel) ?? 0) + targeted);
};

/** Those that have deliveries. */
export const channelsIn = (sum: ByChannel): Channel[] =>
  [...sum].flatMap(([channel, count]) => (count > 0 ? [channel] : []));

/** What is made of metrics of some channels. Source: docs/reference/analytics.md#rates. */
export const ratesOf = (of: Metrics, channels: Iterable<Channel>): Rates => {
  const basis = basisOf(channels);
  const among = of[basis];
  return {
    delivery_rate: ratio(of.delivered, of.sent),
    open_rate: ratio(of.opened, among),
    click_rate: ratio(of.clicked, among),
    ctor: ratio(of.clicked, of.opened),
    conversion_rate: ratio(of.converted, among),
    bounce_rate: ratio(of.bounced, of.sent),
    complaint_rate: ratio(of.complained, among),
    unsubscribe_rate: ratio(of.unsubscribed, among),
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
