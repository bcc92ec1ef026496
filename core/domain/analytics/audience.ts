import type { AudienceGrouping } from "../../schema/analytics/audience.ts";
import { analyticsLimits } from "../../schema/analytics/query.ts";
import type { CohortUnit } from "../../schema/analytics/retention.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { dayMs } from "../durations.ts";
import type { CameAndWent } from "../people/came-back.ts";
import { boundsOf, intervalOf } from "./intervals.ts";

export type AudienceSpec = {
  range: { from: Date; to: Date };
  zone: string;
  unit: CohortUnit;
  grouping: AudienceGrouping | null;
};

export type AudienceUser = { created_at: Date; language: string | null; country: string | null };
export type AudienceSubscription = {
  channel: Channel;
  status: "subscribed" | "unsubscribed" | "invalid";
  device: Readonly<Record<string, string>>;
  created_at: Date;
  unsubscribed_at: Date | null;
} & CameAndWent;

type Statuses = { subscriptions: number; subscribed: number; unsubscribed: number; invalid: number };

type CameAndWentIn = {
  new_users: number;
  new_subscriptions: number;
  unsubscribed: number;
  invalidated: number;
  reactivated: number;
  active_users: number;
};

/** Who is there, and who came and went in each interval of the range. */
export type AudienceCounts = {
  users: number;
  by_channel: (Statuses & { channel: Channel })[];
  groups: { key: string; count: number }[] | null;
  /** Different users who were active in the last day, week and 30 days before the range ends. */
  active: Record<keyof typeof activeDays, number>;
  series: ({ at: Date } & CameAndWentIn)[];
};

const activeDays = { dau: 1, wau: 7, mau: 30 } as const;
const periods = ["dau", "wau", "mau"] as const;
/** Activity is needed from so long before the end of a range. */
export const activeMs = activeDays.mau * dayMs;

export type Audience = {
  /** Counts a user; tell what this gives when they were active, in any order and as often as you like. */
  user: (user: AudienceUser) => (at: Date) => void;
  subscription: (subscription: AudienceSubscription) => void;
  counts: () => AudienceCounts;
};

/** Counts users and subscriptions, one after another. Source: docs/reference/analytics.md#audience. */
export const audienceOf = ({ range, zone, unit, grouping }: AudienceSpec): Audience => {
  const bounds = range.from < range.to ? (boundsOf(range, unit, { zone, most: mostIntervals }) ?? []) : [];
  const series = bounds.slice(0, -1).map((at) => ({ at, ...nobody }));
  const channels = new Map<Channel, Statuses>();
  const groups = new Map<string, number>();
  const active = { dau: 0, wau: 0, mau: 0 };
  let users = 0;
  const at = (when: Date) => series[intervalOf(bounds, when)];
  const inIntervals = series.map((one) => () => void (one.active_users += 1));
  const inPeriods = periods.map((name) => ({
    fromMs: range.to.getTime() - activeDays[name] * dayMs,
    add: () => void (active[name] += 1),
  }));
  const countersAt = (when: Date): Add[] => {
    const recent = inPeriods.filter(({ fromMs }) => when < range.to && when.getTime() >= fromMs).map(({ add }) => add);
    const inInterval = inIntervals[intervalOf(bounds, when)];
    return inInterval === undefined ? recent : [...recent, inInterval];
  };
  const group = (key: string | null | undefined): void => {
    const wanted = key === null || key === undefined || key === "" ? "none" : key;
    const name = groups.has(wanted) || groups.size < mostGroups ? wanted : "other";
    groups.set(name, (groups.get(name) ?? 0) + 1);
  };
  return {
    user: ({ created_at, language, country }) => {
      users += 1;
      if (grouping === "language") group(language);
      if (grouping === "country") group(country);
      const made = at(created_at);
      if (made !== undefined) made.new_users += 1;
      return activityOf(countersAt);
    },
    subscription: (one) => {
      const { channel, status, device, created_at } = one;
      const counts = channels.get(channel) ?? { subscriptions: 0, subscribed: 0, unsubscribed: 0, invalid: 0 };
      channels.set(channel, counts);
      counts.subscriptions += 1;
      counts[status] += 1;
      if (status === "subscribed" && grouping === "channel") group(channel);
      if (status === "subscribed" && (grouping === "app_version" || grouping === "os_version")) group(device[grouping]);
      const made = at(created_at);
      if (made !== undefined) made.new_subscriptions += 1;
      const [left, gone, back] = instantsOf(one).map((instant) => (instant === null ? undefined : at(instant)));
      if (left !== undefined) left.unsubscribed += 1;
      if (gone !== undefined) gone.invalidated += 1;
      if (back !== undefined) back.reactivated += 1;
    },
    counts: () => ({
      users,
      by_channel: [...channels].map(([channel, counts]) => ({ channel, ...counts })),
      active,
      groups: grouping === null ? null : mostFrequent(groups),
      series,
    }),
  };
};

type Add = () => void;

/** Adds somebody to what counts their activity, to each once. */
const activityOf = (countersAt: (when: Date) => readonly Add[]): ((when: Date) => void) => {
  let added: Set<Add> | null = null; // most users are not active
  return (when) => {
    for (const add of countersAt(when)) {
      added ??= new Set();
      if (!added.has(add)) add();
      added.add(add);
    }
  };
};

const nobody: CameAndWentIn = {
  new_users: 0,
  new_subscriptions: 0,
  unsubscribed: 0,
  invalidated: 0,
  reactivated: 0,
  active_users: 0,
};

/** When it was unsubscribed, became invalid, or was subscribed again: what it is still. */
const instantsOf = ({
  status,
  unsubscribed_at: left,
  invalid_since: gone = null,
  resubscribed_at: back = null,
}: AudienceSubscription): (Date | null)[] => [
  status === "unsubscribed" ? left : null,
  status === "invalid" ? gone : null,
  status === "subscribed" ? back : null,
];

const mostIntervals = 1_000; // 400 days
const mostGroups = 1_000; // told apart while counting

const mostFrequent = (groups: ReadonlyMap<string, number>): { key: string; count: number }[] => {
  const inOrder = [...groups]
    .filter(([key]) => key !== "other")
    .sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
    .map(([key, count]) => ({ key, count }));
  const rest = inOrder.slice(analyticsLimits.groups).reduce((sum, { count }) => sum + count, groups.get("other") ?? 0);
  return [...inOrder.slice(0, analyticsLimits.groups), ...(rest > 0 ? [{ key: "other", count: rest }] : [])];
};
