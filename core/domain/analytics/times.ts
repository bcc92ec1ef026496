import type { Channel } from "../../schema/vocabulary/channels.ts";
import { addPacked, runsOf } from "./columns.ts";
import { percentileOf } from "./latency.ts";
import type { Axis, ReadDay } from "./spread.ts";
import { classOfColumn, timesOfKey } from "./tables.ts";

/** Classes that are told apart: the last one has all that took longer than some 250 days. */
export const mostClasses = 608;

/** How long deliveries took, ms, within 2 %; null of none. */
export type DeliveryTimes = { median_delivery_ms: number | null; p95_delivery_ms: number | null };

export const noTimes: DeliveryTimes = { median_delivery_ms: null, p95_delivery_ms: null };

/** How long the deliveries of each channel took in a range, the only point of an axis. */
export const timesOf = (days: readonly ReadDay[], axis: Axis): ReadonlyMap<Channel, DeliveryTimes> => {
  const counts = new Map<Channel, Float64Array>();
  const targets = new Map<string, Float64Array>();
  const targetOf = (key: string): Float64Array => {
    const known = targets.get(key);
    if (known !== undefined) return known;
    const { channel, class: first } = timesOfKey(key);
    const all = counts.get(channel) ?? new Float64Array(mostClasses);
    counts.set(channel, all);
    targets.set(key, all.subarray(first));
    return all.subarray(first);
  };
  for (const { day, keys, sums, quarters } of days) {
    const whole = axis.wholeAt(day.getTime());
    const runs = runsOf(whole === null ? axis.quartersAt(day.getTime()) : Int32Array.of(whole));
    const to = { targets: keys.map(targetOf), runs };
    for (const [name, bytes] of Object.entries((whole === null ? quarters : sums) ?? {}))
      addPacked(bytes, { ...to, from: classOfColumn(name) });
  }
  return new Map([...counts].map(([channel, of]) => [channel, percentilesOf(of)]));
};

const percentilesOf = (counts: Float64Array): DeliveryTimes => {
  const classes = [...counts].map((count, n) => ({ class: n, count })).filter(({ count }) => count > 0);
  return {
    median_delivery_ms: percentileOf(classes, 0.5),
    p95_delivery_ms: percentileOf(classes, 0.95),
  };
};
