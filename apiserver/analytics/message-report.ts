import { type CourseInterval, courseOf } from "#core/domain/analytics/courses.ts";
import { percentileOf } from "#core/domain/analytics/latency.ts";
import { addTo, channelsIn, noMetrics, ratesOf } from "#core/domain/analytics/metrics.ts";
import { inUnits } from "#core/domain/analytics/values.ts";
import { settingsOf } from "#core/domain/apps/settings.ts";
import type { Clock } from "#core/domain/clock.ts";
import { hourMs } from "#core/domain/durations.ts";
import { fixedP, upliftInterval, upliftOf } from "#core/domain/experiments/statistics.ts";
import { isTimeZone } from "#core/domain/time-zone.ts";
import { invalid, NotFound } from "#core/errors.ts";
import { MessageReport, type MessageReportQuery, ReportedMessage } from "#core/schema/analytics/message-report.ts";
import { MessageMetrics } from "#core/schema/analytics/messages.ts";
import type { Metrics } from "#core/schema/analytics/metrics.ts";
import { showAs } from "#core/schema/json/show.ts";
import type { Counts } from "#core/schema/messages/message.ts";
import { type Channel, channelOfPlatform, channels, platforms } from "#core/schema/vocabulary/channels.ts";
import type { MessageParts, PartCell } from "#core/storage/analytics/message-parts.ts";
import type { MessageReports } from "#core/storage/analytics/message-reports.ts";
import type { AppRow } from "#core/storage/apps/apps.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import type { Messages } from "#core/storage/messages/messages.ts";
import { ofApp } from "#core/storage/mongo/collection.ts";
import type { NarrowLimit } from "../limits/narrow-limit.ts";

export type MessageReportDeps = {
  messages: Pick<Messages, "find">;
  reports: Pick<MessageReports, "find" | "ask">;
  partsOf: (messageId: string, begunAt: Date) => Promise<MessageParts>;
  limit: NarrowLimit;
  clock: Clock;
};

/** Deliveries that are read while somebody waits: some milliseconds of the store. */
const mostRead = 300;

/**
 * What became of one message. Of one with many deliveries a job tells the parts apart once somebody asks, and again when they
 * have changed. Source: docs/reference/analytics.md#message-report.
 */
export const messageReport =
  (deps: MessageReportDeps) =>
  async (
    app: AppRow,
    { messageId, query }: { messageId: string; query: MessageReportQuery },
    signal: AbortSignal,
  ): Promise<MessageReport> => {
    const { interval = "hour", timezone: zone = settingsOf(app).time_zone } = query;
    if (!isTimeZone(zone)) throw invalid("timezone", `${zone} is not an IANA time zone`);
    await deps.limit("analytics.read", app._id);
    const now = deps.clock.now();
    const message = await deps.messages.find(app.tenant_id, messageId, signal);
    if (message === null || message.app_id !== app._id) throw new NotFound("message");
    const parts = await partsOf(deps, app, message, now);
    const totals = { ...noMetrics(), ...message.counts };
    return showAs(MessageReport, {
      message: showAs(ReportedMessage, {
        ...message,
        id: message._id,
        first_sent_at: message.dispatched_at ?? message.started_at,
      }),
      as_of: now,
      totals: showAs(MessageMetrics, totals),
      rates: ratesOf(totals, message.channels),
      variants: variantsOf(message),
      verdict: message.winner?.verdict ?? null,
      parts: parts && shownParts(parts, { begunAt: message.created_at, interval, zone }),
    });
  };

/** Repeated opens and clicks move nothing of the message itself. */
const keptMs = hourMs;

type KnownParts = MessageParts & { as_of: Date };

const partsOf = async (
  { reports, partsOf: read }: MessageReportDeps,
  app: AppRow,
  { _id, counts, created_at: begunAt, updated_at: movedAt }: MessageRow,
  now: Date,
): Promise<KnownParts | null> => {
  if ((counts.targeted ?? 0) <= mostRead) return { ...(await read(_id, begunAt)), as_of: now };
  const known = await reports.find(ofApp(app), _id);
  const asOf = known?.as_of ?? null;
  const dueAt = known !== null && known.rests_until > now ? known.rests_until : now;
  if (asOf === null || asOf <= movedAt || now.getTime() - asOf.getTime() > keptMs)
    await reports.ask(ofApp(app), _id, { now, dueAt });
  return known === null || asOf === null || known.parts === null ? null : { ...known.parts, as_of: asOf };
};

const variantsOf = ({ variants, variant_counts: counts, winner, channels: over }: MessageRow) => {
  if (variants === undefined) return null;
  const base = variants.find((one) => one.is_control) ?? variants[0];
  const of = (id: string) => sampleOf(counts?.[id] ?? {}, variants.find((one) => one.id === id)?.is_control ?? false);
  return variants.map(({ id, name, is_control }) => {
    const totals = { ...noMetrics(), ...counts?.[id] };
    const isBase = base === undefined || id === base.id;
    return {
      id,
      name,
      is_control,
      is_winner: winner?.chosen === id,
      totals: showAs(MessageMetrics, totals),
      rates: ratesOf(totals, over),
      uplift: isBase ? null : upliftOf(of(id), of(base.id)),
      uplift_ci: isBase ? null : mutable(upliftInterval(of(id), of(base.id))),
      confidence: isBase ? null : 1 - fixedP(of(id), of(base.id)),
    };
  });
};

/** A control is sent nothing: all of its people count. */
const sampleOf = ({ targeted = 0, sent = 0, converted = 0 }: Counts, isControl: boolean) => ({
  n: isControl ? targeted : sent,
  conversions: converted,
});

const mutable = (interval: readonly [number, number] | null): [number, number] | null => interval && [...interval];

const shownParts = (
  { as_of, cells, links, buttons, latency, course = [] }: KnownParts,
  of: { begunAt: Date; interval: CourseInterval; zone: string },
) => ({
  as_of: as_of.toISOString(),
  by_channel: byChannel(cells),
  by_platform: byPlatform(cells),
  failures: failuresIn(cells),
  suppressions: suppressionsIn(cells),
  links: links.map(({ url, count, total = count }) => ({ url, unique_clicks: count, total_clicks: total })),
  buttons: buttons.map(({ id, count }) => ({ id, clicks: count })),
  latency: latencyOf(latency),
  series: courseOf(course, of).map(({ at, ...counts }) => ({ at: at.toISOString(), ...counts })),
});

const totalsOf = (cells: readonly PartCell[]): Map<Channel, Metrics> => {
  const all = new Map<Channel, Metrics>();
  for (const { channel, counts } of cells) {
    const totals = all.get(channel) ?? noMetrics();
    addTo(totals, counts);
    all.set(channel, totals);
  }
  return all;
};

const byPlatform = (cells: readonly PartCell[]) => {
  const all = totalsOf(cells);
  return platforms.flatMap((platform) => {
    const totals = all.get(channelOfPlatform[platform]);
    return totals === undefined ? [] : [{ platform, totals: inUnits(totals) }];
  });
};

const byChannel = (cells: readonly PartCell[]) => {
  const all = totalsOf(cells);
  return channelsIn(all).map((channel) => {
    const totals = all.get(channel) ?? noMetrics();
    return { channel, totals: inUnits(totals), rates: ratesOf(totals, [channel]) };
  });
};

const failuresIn = (cells: readonly PartCell[]) => {
  const failed = cells.flatMap(({ channel, error_code: code, counts }) => {
    const count = counts.failed + counts.errored + counts.expired + counts.bounced;
    return count > 0 ? [{ channel, error_code: code ?? "UNKNOWN", count }] : [];
  });
  return summed(failed, ({ channel, error_code }) => `${channel} ${error_code}`);
};

const suppressionsIn = (cells: readonly PartCell[]) => {
  const suppressed = cells.flatMap(({ reason, counts: { suppressed: count } }) =>
    count > 0 ? [{ reason: reason ?? "other", count }] : [],
  );
  return summed(suppressed, ({ reason }) => reason);
};

/** Those of one name together, the most frequent first. */
const summed = <One extends { count: number }>(all: readonly One[], nameOf: (one: One) => string): One[] => {
  const sums = new Map<string, One>();
  for (const one of all) {
    const known = sums.get(nameOf(one));
    sums.set(nameOf(one), known === undefined ? one : { ...known, count: known.count + one.count });
  }
  return [...sums.values()].sort((a, b) => b.count - a.count || (nameOf(a) < nameOf(b) ? -1 : 1));
};

const latencyOf = (latency: MessageParts["latency"]) =>
  channels.flatMap((channel) => {
    const ofStep = (wanted: "sent" | "delivered") => {
      const classes = latency.filter((one) => one.channel === channel && one.step === wanted);
      return { median_ms: percentileOf(classes, 0.5), p95_ms: percentileOf(classes, 0.95) };
    };
    return latency.some((one) => one.channel === channel)
      ? [{ channel, sent: ofStep("sent"), delivered: ofStep("delivered") }]
      : [];
  });
