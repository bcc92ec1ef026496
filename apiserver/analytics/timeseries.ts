import { boundsOf, type CalendarUnit, hourOfWeek } from "#core/domain/analytics/intervals.ts";
import { addChannel, addTo, type ByChannel, channelsIn, noMetrics, ratesOf } from "#core/domain/analytics/metrics.ts";
import { type Cell, other } from "#core/domain/analytics/quarters.ts";
import { dayMs } from "#core/domain/durations.ts";
import { invalid } from "#core/errors.ts";
import {
  type Grouping,
  type Interval,
  type Series,
  Timeseries,
  type TimeseriesQuery,
} from "#core/schema/analytics/deliveries.ts";
import type { Metrics } from "#core/schema/analytics/metrics.ts";
import { analyticsLimits } from "#core/schema/analytics/query.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import { type AnswersDeps, answering } from "./answers.ts";
import { type CountsDeps, isAsked, rangeMembers, readCounts } from "./counts.ts";
import type { Asked } from "./range.ts";

/** How metrics and rates went. Source: docs/reference/analytics.md#timeseries. */
export const timeseries = (deps: CountsDeps & AnswersDeps) =>
  answering<TimeseriesQuery, Timeseries>(deps, "quarter", async (app, question) => {
    const { query, asked } = question;
    const interval = query.interval ?? "day";
    const axis = axisOf(interval, asked);
    checkSize(query, axis);
    const groups = new Map<string | null, Group>();
    const [members] = await Promise.all([
      rangeMembers(deps, app, question),
      readCounts(deps, app, axis.bounds, (n, { cells }, by) => {
        for (const cell of cells.filter((one) => isAsked(query, one)))
          addCell(groupNamed(groups, groupOf(cell, query.group_by)), axis.placeOf(n), cell, by);
      }),
    ]);
    const shown = query.group_by === undefined ? alone(groups) : mostFrequent(groups, axis);
    const metrics = [...new Set(query.metric)];
    const series = metrics.flatMap((metric) => shown.map((group) => seriesOf(metric, group, axis, query)));
    return showAs(Timeseries, { ...members, interval, series });
  });

/** Where an interval of the range counts, and what the points are called. */
type Axis = { bounds: readonly Date[]; placeOf: (interval: number) => number; names: readonly string[] };

const axisOf = (interval: Interval, { range, timezone }: Asked): Axis => {
  const unit: CalendarUnit = interval === "hour_of_week" ? "hour" : interval;
  const days = (range.to.getTime() - range.from.getTime()) / dayMs;
  if (interval === "hour" && days > analyticsLimits.hourlyDays)
    throw invalid("interval", `hour is for ranges of at most ${analyticsLimits.hourlyDays} days`, {
      limit: analyticsLimits.hourlyDays,
    });
  const most = interval === "hour_of_week" ? analyticsLimits.days * 25 : analyticsLimits.points;
  const bounds = range.from < range.to ? boundsOf(range, unit, { zone: timezone, most }) : [range.from];
  if (bounds === null)
    throw invalid("interval", `makes more than ${analyticsLimits.points} points of this range`, {
      limit: analyticsLimits.points,
    });
  const begins = bounds.slice(0, -1);
  if (interval !== "hour_of_week") return { bounds, placeOf: (n) => n, names: begins.map((at) => at.toISOString()) };
  const places = begins.map((at) => hourOfWeek(at, timezone));
  return { bounds, placeOf: (n) => places[n] ?? 0, names: hoursOfWeek };
};

const hoursOfWeek = Array.from({ length: 168 }, (_, n) => {
  const hour = String(n % 24).padStart(2, "0");
  return `${Math.floor(n / 24) + 1}T${hour}:00`;
});

const checkSize = ({ metric, group_by: grouping }: TimeseriesQuery, { names }: Axis): void => {
  const groups = grouping === undefined ? 1 : analyticsLimits.groups + 1;
  if (new Set(metric).size * groups * names.length > analyticsLimits.values)
    throw invalid("interval", `makes more than ${analyticsLimits.values} values of these metrics and groups`, {
      limit: analyticsLimits.values,
    });
};

/** Its metrics at each point; those of points without any are left out. */
type Group = { name: string | null; targeted: number; channels: ByChannel; points: Map<number, Metrics> };

const emptyGroup = (name: string | null): Group => ({ name, targeted: 0, channels: new Map(), points: new Map() });

const groupOf = (cell: Cell, grouping: Grouping | undefined): string | null =>
  grouping === undefined ? null : (cell[grouping] ?? "none");

const groupNamed = (groups: Map<string | null, Group>, name: string | null): Group => {
  const group = groups.get(name) ?? emptyGroup(name);
  groups.set(name, group);
  return group;
};

const addCell = ({ points, channels }: Group, point: number, { counts, channel }: Cell, by: 1 | -1): void => {
  const totals = points.get(point) ?? noMetrics();
  addTo(totals, counts, by);
  points.set(point, totals);
  addChannel(channels, channel, by * (counts.targeted ?? 0));
};

const alone = (groups: ReadonlyMap<string | null, Group>): Group[] => [groups.get(null) ?? emptyGroup(null)];

/** Those with the most deliveries, and what the others come to where there are some. */
const mostFrequent = (groups: ReadonlyMap<string | null, Group>, { names }: Axis): Group[] => {
  for (const group of groups.values())
    group.targeted = [...group.points.values()].reduce((sum, { targeted }) => sum + targeted, 0);
  const named = [...groups.values()]
    .filter(({ name, targeted }) => name !== other && targeted > 0)
    .sort((a, b) => b.targeted - a.targeted || (String(a.name) < String(b.name) ? -1 : 1));
  const rest = [...named.slice(analyticsLimits.groups), ...[...groups.values()].filter(({ name }) => name === other)];
  const shown = named.slice(0, analyticsLimits.groups);
  return rest.length === 0 ? shown : [...shown, joined(rest, names.length)];
};

const joined = (groups: readonly Group[], points: number): Group => {
  const sum = emptyGroup(other);
  for (const group of groups) {
    for (const [channel, count] of group.channels) addChannel(sum.channels, channel, count);
    for (let n = 0; n < points; n++) {
      const more = group.points.get(n);
      if (more === undefined) continue;
      const totals = sum.points.get(n) ?? noMetrics();
      addTo(totals, more);
      sum.points.set(n, totals);
    }
  }
  return sum;
};

const seriesOf = (
  metric: Series["metric"],
  { name, points, channels }: Group,
  { names }: Axis,
  { channel }: TimeseriesQuery,
): Series => ({
  metric,
  group: name,
  points: names.map((at, n) => ({
    at,
    value: valueOf(metric, points.get(n) ?? noMetrics(), channel ?? channelsIn(channels)),
  })),
});

const valueOf = (metric: Series["metric"], totals: Metrics, channels: Iterable<Channel>): number | null => {
  const all: Record<string, number | string | null> = { ...totals, ...ratesOf(totals, channels) };
  return all[metric] as number | null; // sound: both have numbers under every name of a metric or rate
};
