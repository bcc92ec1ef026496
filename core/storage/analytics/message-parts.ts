import type { Collection, Db, Document, Long } from "mongodb";
import { type CourseCount, type CourseStep, courseSteps } from "../../domain/analytics/courses.ts";
import { classRatio } from "../../domain/analytics/latency.ts";
import { dayMs, quarterMs } from "../../domain/durations.ts";
import type { Metrics } from "../../schema/analytics/metrics.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { metricSums } from "./quarter-counts.ts";

/** What the report of a message tells apart. Each list has its most frequent ones, at most {@link mostParts}. */
export type MessageParts = {
  cells: PartCell[];
  links: { url: string; count: number; total?: number }[];
  buttons: { id: string; count: number }[];
  latency: PartLatency[];
  /** Absent in what a former release has kept. */
  course?: CourseCount[];
};

/** Deliveries that are alike in all of these. */
export type PartCell = {
  channel: Channel;
  variant: string | null;
  error_code: string | null;
  reason: string | null;
  counts: Metrics;
};

/** Deliveries of a channel that took about as long: `sent` from when they were made, `delivered` from when they were sent. */
export type PartLatency = { channel: Channel; step: "sent" | "delivered"; class: number; count: number };

export const mostParts = 500;
const most = { links: 50, buttons: 20 };

/** Reads all deliveries of a message, ten times. `begunAt`: of the message; until a day after, its course is told by the minute. */
export const messageParts =
  (db: Db) =>
  async (messageId: string, begunAt: Date): Promise<MessageParts> => {
    const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
    const of = { message_id: messageId, position: anyText };
    const [cells, clicks, sent, delivered, course] = await Promise.all([
      cellsOf(rows, of),
      clicksOf(rows, of),
      timesOf(rows, of, { step: "sent", from: "created_at", to: "sent_at" }),
      timesOf(rows, of, { step: "delivered", from: "sent_at", to: "delivered_at" }),
      courseOf(rows, of, begunAt),
    ]);
    const links = summed(clicks, ({ url }) => url).map(([url, sums]) => ({ url, ...sums }));
    const buttons = summed(clicks, ({ button }) => button).map(([id, { count }]) => ({ id, count }));
    return {
      cells,
      links: links.slice(0, most.links),
      buttons: buttons.slice(0, most.buttons),
      latency: [...sent, ...delivered],
      course,
    };
  };

const read = { hint: "list", batchSize: 1_000 };
const mostGroups = 10_000; // that are put in order; what comes after them is not told apart

const firstOf = async <Group>(found: AsyncIterable<Group>): Promise<Group[]> => {
  const groups: Group[] = [];
  for await (const group of found) {
    groups.push(group);
    if (groups.length === mostGroups) break;
  }
  return groups;
};

type Of = { message_id: string; position: typeof anyText };

const orNull = (member: string) => ({ $ifNull: [`$${member}`, null] });

const cellsOf = async (rows: Collection<DeliveryRow>, of: Of): Promise<PartCell[]> => {
  const _id = {
    channel: "$channel",
    variant: orNull("variant_id"),
    error_code: orNull("error_code"),
    reason: orNull("suppression_reason"),
  };
  type Group = Metrics & { _id: Omit<PartCell, "counts"> };
  const found = await firstOf(rows.aggregate<Group>([{ $match: of }, { $group: { _id, ...metricSums } }], read));
  const cells = found.map(({ _id: cell, ...counts }) => ({ ...cell, counts }));
  return cells.sort((a, b) => b.counts.targeted - a.counts.targeted).slice(0, mostParts);
};

/** `count`: of different deliveries; `total`: of all clicks. */
type Click = { url: string | null; button: string | null; count: number; total: number };

/** By address without what follows a question mark: that is often of one person alone. Those of programs are left out. */
const clicksOf = async (rows: Collection<DeliveryRow>, of: Of): Promise<Click[]> => {
  const once = [
    { $match: { ...of, clicked_at: { $gt: longAgo }, clicks: { $exists: false } } },
    {
      $group: {
        _id: { url: withoutQuery("$clicked_url"), button: textOf("$clicked_button_id") },
        count: one,
        total: one,
      },
    },
  ];
  const place = { url: withoutQuery("$clicks.url"), button: textOf("$clicks.button_id") };
  const often = [
    { $match: { ...of, clicked_at: { $gt: longAgo }, clicks: { $exists: true } } },
    { $project: { clicks: 1 } },
    { $unwind: "$clicks" },
    { $match: { "clicks.machine": { $exists: false } } },
    { $group: { _id: { delivery: "$_id", ...place }, total: one } },
    { $group: { _id: { url: "$_id.url", button: "$_id.button" }, count: one, total: { $sum: "$total" } } },
  ];
  type Group = { _id: { url: string; button: string }; count: number; total: number };
  const found = await Promise.all([once, often].map((stages) => firstOf(rows.aggregate<Group>(stages, read))));
  return found.flat().map(({ _id, ...sums }) => ({ url: _id.url || null, button: _id.button || null, ...sums }));
};

const one = { $sum: 1 };
const textOf = (member: string) => ({ $ifNull: [member, ""] });
const withoutQuery = (member: string) => ({ $arrayElemAt: [{ $split: [textOf(member), "?"] }, 0] });

type Sums = Pick<Click, "count" | "total">;

const summed = (clicks: readonly Click[], nameOf: (click: Click) => string | null): [string, Sums][] => {
  const all = new Map<string, Sums>();
  for (const click of clicks) {
    const name = nameOf(click);
    const known = all.get(name ?? "") ?? { count: 0, total: 0 };
    if (name !== null) all.set(name, { count: known.count + click.count, total: known.total + click.total });
  }
  return [...all].sort(([a, x], [b, y]) => y.count - x.count || (a < b ? -1 : 1));
};

type Step = { step: PartLatency["step"]; from: string; to: string };

const timesOf = async (rows: Collection<DeliveryRow>, of: Of, { step, from, to }: Step): Promise<PartLatency[]> => {
  const ms: Document = { $max: [1, { $subtract: [`$${to}`, `$${from}`] }] };
  const stages = [
    { $match: { ...of, [from]: { $gt: longAgo }, [to]: { $gt: longAgo } } },
    {
      $group: {
        _id: { channel: "$channel", class: { $round: [{ $divide: [{ $ln: ms }, Math.log(classRatio)] }, 0] } },
        count: { $sum: 1 },
      },
    },
  ];
  const found = await rows
    .aggregate<{ _id: { channel: Channel; class: number }; count: number }>(stages, read)
    .toArray();
  return found.map(({ _id, count }) => ({ channel: _id.channel, step, class: _id.class, count }));
};

/** Of an instant in the first day of the message its minute, of a later one its quarter of an hour, ms. */
const courseOf = async (rows: Collection<DeliveryRow>, of: Of, begunAt: Date): Promise<CourseCount[]> => {
  const minutesEnd = new Date(begunAt.getTime() + dayMs);
  const ofStep = async (step: CourseStep): Promise<CourseCount[]> => {
    const ms = { $subtract: [`$${step}_at`, epoch] };
    const unit = { $cond: [{ $lt: [`$${step}_at`, minutesEnd] }, minuteMs, quarterMs] };
    const at_ms: Document = { $subtract: [ms, { $mod: [ms, unit] }] };
    const stages = [
      { $match: { ...of, [`${step}_at`]: { $gt: longAgo } } },
      { $group: { _id: at_ms, count: { $sum: 1 } } },
    ];
    const found = await firstOf(rows.aggregate<{ _id: number | Long; count: number }>(stages, read));
    return found.map(({ _id, count }) => ({ step, at_ms: Number(_id), count }));
  };
  return (await Promise.all(courseSteps.map(ofStep))).flat();
};

const epoch = new Date(0);
const minuteMs = 60_000;
