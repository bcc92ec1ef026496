import { type ByChannel, noMetrics } from "#core/domain/analytics/metrics.ts";
import type { Spread } from "#core/domain/analytics/spread.ts";
import { metrics as allMetrics, type Metric, type Metrics } from "#core/schema/analytics/metrics.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { HourRange } from "#core/storage/analytics/event-sums.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { askedCells, type CellFilter, type CountsDeps, rangeAxis, readCounts } from "./counts.ts";

/** All metrics of a range, of each channel that has deliveries that are asked for. */
export const totalsByChannel = async (
  deps: Pick<CountsDeps, "counters">,
  app: AppRow,
  range: HourRange,
  query: CellFilter,
): Promise<ByChannel> => {
  const { table, of } = askedCells(query);
  const groupOf = (key: string): string | null => of(key)?.channel ?? null;
  const found = await readCounts(deps, app, { table, axis: rangeAxis(range), metrics: allMetrics, groupOf });
  return new Map([...found].map(([channel, spread]) => [channel as Channel, metricsAt(spread, allMetrics, 0)])); // sound: groupOf gave it
};

/** Metrics at one point of those that a spread has. */
export const metricsAt = (spread: Spread, metrics: readonly Metric[], point: number): Metrics => {
  const points = spread.length / metrics.length;
  const totals = noMetrics();
  for (const [n, metric] of metrics.entries()) totals[metric] = spread[n * points + point] ?? 0;
  return totals;
};
