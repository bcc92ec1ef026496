import { boundsOf, hoursOfWeek } from "#core/domain/analytics/intervals.ts";
import { addTo, channelsIn, countedFor, noMetrics, ratesOf } from "#core/domain/analytics/metrics.ts";
import { other } from "#core/domain/analytics/quarters.ts";
import { type Axis, plainAxis, type Spread, weekAxis } from "#core/domain/analytics/spread.ts";
import { inUnits } from "#core/domain/analytics/values.ts";
import { dayMs } from "#core/domain/durations.ts";
import { invalid } from "#core/errors.ts";
import {
  type Grouping,
  type Interval,
  type Series,
  Timeseries,
  type TimeseriesQuery,
} from "#core/schema/analytics/deliveries.ts";
import type { Metric, Metrics } from "#core/schema/analytics/metrics.ts";
import { analyticsLimits } from "#core/schema/analytics/query.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Channel } from "#core/schema/vocabulary/channels.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import { type AnswersDeps, answering } from "./answers.ts";
import {
  type AskedCells,
  askedCells,
  type CountsDeps,
  needsAllFacts,
  rangeMembers,
  readCounts,
  wholeOf,
} from "./counts.ts";
import type { Asked } from "./range.ts";
import { metricsAt } from "./totals.ts";

/** How metrics and rates went. Source: docs/reference/analytics.md#timeseries. */
export const timeseries = (deps: CountsDeps & AnswersDeps) =>
  answering<TimeseriesQuery, Timeseries>(deps, "quarter", async (app, question) => {
    const { query, asked } = question;
    const interval = query.interval ?? "day";
    const axis = axisOf(interval, asked);
    checkSize(query, axis);
    if (query.group_by === "status") checkOfStatus(query);
    const [members, groups] = await Promise.all([
      rangeMembers(deps, app, question, needsAllFacts(askedCells(query, query.group_by).table, query.metric)),
      groupsOf(deps, app, { query, axis }),
    ]);
    const metrics = [...new Set(query.metric)];
    const shown = groups.map((group) => shownOf(group, axis, query));
    const series = metrics.flatMap((metric) => shown.map((group) => seriesOf(metric, group, axis)));
    return showAs(Timeseries, { ...members, interval, series });
  });

type Ask = { query: TimeseriesQuery; axis: NamedAxis };

/** Counts of a group, by channel. */
type Group = { name: string | null; metrics: readonly Metric[]; channels: ReadonlyMap<Channel, Spread> };

const groupsOf = async (deps: CountsDeps, app: AppRow, { query, axis }: Ask): Promise<Group[]> => {
  const metrics = [...new Set(query.metric.flatMap(countedFor))];
  const { table, of } = askedCells(query, query.group_by);
  const shown = query.group_by === undefined ? null : await mostFrequent(deps, app, { query, axis });
  const groupOf = (key: string): string | null => {
    const cell = of(key);
    if (cell === null) return null;
    const name = shown === null ? null : nameOf(cell, query.group_by);
    return JSON.stringify([shown === null || shown.includes(name) ? name : other, cell.channel]);
  };
  const found = await readCounts(deps, app, { table, axis, metrics, groupOf });
  const byName = Map.groupBy(
    [...found].map(([group, spread]) => ({ of: JSON.parse(group) as [string | null, Channel], spread })), // sound: groupOf wrote it
    ({ of: [name] }) => name,
  );
  return (shown ?? [null]).map((name) => {
    const channels = new Map((byName.get(name) ?? []).map(({ of: [, channel], spread }) => [channel, spread]));
    return { name, metrics, channels };
  });
};

type Cell = NonNullable<ReturnType<AskedCells["of"]>>;

const nameOf = (cell: Cell, grouping: Grouping | undefined): string | null => {
  if (grouping === undefined) return null;
  return (grouping === "label" || grouping === "status" ? cell.name : cell[grouping]) ?? "none";
};

/** The names of those groups with the most deliveries, and of what the others are where there are some. */
const mostFrequent = async (deps: CountsDeps, app: AppRow, { query, axis }: Ask): Promise<(string | null)[]> => {
  const { table, of } = askedCells(query, query.group_by);
  const groupOf = (key: string): string | null => {
    const cell = of(key);
    return cell === null ? null : nameOf(cell, query.group_by);
  };
  const found = await readCounts(deps, app, { table, axis: wholeOf(axis), metrics: ["targeted"], groupOf });
  const all = [...found].flatMap(([name, [count = 0]]) => (count > 0 ? [{ name, count }] : []));
  const named = all
    .filter(({ name }) => name !== other)
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .map(({ name }) => name);
  const isMore = named.length > analyticsLimits.groups || named.length < all.length;
  return [...named.slice(0, analyticsLimits.groups), ...(isMore ? [other] : [])];
};

/** Its points, by what they are called. */
type NamedAxis = Axis & { names: readonly string[] };

const axisOf = (interval: Interval, { range, timezone }: Asked): NamedAxis => {
  if (interval === "hour_of_week") return { ...weekAxis(range, timezone), names: namesOfHours };
  const days = (range.to.getTime() - range.from.getTime()) / dayMs;
  if (interval === "hour" && days > analyticsLimits.hourlyDays)
    throw invalid("interval", `hour is for ranges of at most ${analyticsLimits.hourlyDays} days`, {
      limit: analyticsLimits.hourlyDays,
    });
  const most = analyticsLimits.points;
  const bounds = range.from < range.to ? boundsOf(range, interval, { zone: timezone, most }) : [range.from];
  if (bounds === null)
    throw invalid("interval", `makes more than ${analyticsLimits.points} points of this range`, {
      limit: analyticsLimits.points,
    });
  return { ...plainAxis(bounds), names: bounds.slice(0, -1).map((at) => at.toISOString()) };
};

/** What a delivery is by now says nothing of what else it was. @throws ValidationError */
const checkOfStatus = ({ metric }: TimeseriesQuery): void => {
  const place = metric.findIndex((one) => one !== "targeted");
  if (place !== -1) throw invalid(`metric[${place}]`, "must be targeted where group_by is status");
};

const namesOfHours = Array.from({ length: hoursOfWeek }, (_, n) => {
  const hour = String(n % 24).padStart(2, "0");
  return `${Math.floor(n / 24) + 1}T${hour}:00`;
});

const checkSize = ({ metric, group_by: grouping }: TimeseriesQuery, { names }: NamedAxis): void => {
  const groups = grouping === undefined ? 1 : analyticsLimits.groups + 1;
  if (new Set(metric).size * groups * names.length > analyticsLimits.values)
    throw invalid("interval", `makes more than ${analyticsLimits.values} values of these metrics and groups`, {
      limit: analyticsLimits.values,
    });
};

/** What is shown of a group: all metrics at each point, and over which channels. */
type Shown = { name: string | null; points: readonly Metrics[]; basis: readonly Channel[] };

const shownOf = ({ name, channels, metrics }: Group, { names }: NamedAxis, { channel }: TimeseriesQuery): Shown => {
  const points = names.map(noMetrics);
  const totals = new Map([...channels.keys()].map((one) => [one, noMetrics()]));
  for (const [one, spread] of channels)
    for (const [n, point] of points.entries()) {
      const counts = metricsAt(spread, metrics, n);
      addTo(point, counts);
      addTo(totals.get(one) ?? {}, counts);
    }
  return { name, points, basis: channel ?? channelsIn(totals) };
};

const seriesOf = (metric: Series["metric"], { name, points, basis }: Shown, { names }: NamedAxis): Series => ({
  metric,
  group: name,
  points: names.map((at, n) => ({ at, value: valueOf(metric, points[n] ?? noMetrics(), basis) })),
});

const valueOf = (metric: Series["metric"], totals: Metrics, channels: Iterable<Channel>): number | null => {
  const isMetric = Object.hasOwn(totals, metric); // a timeseries has thousands of values: rates are made for one alone
  const all: Record<string, number | string | null> = isMetric ? inUnits(totals) : ratesOf(totals, channels);
  return all[metric] as number | null; // sound: both have numbers under their names
};
