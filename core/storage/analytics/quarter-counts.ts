import type { Db, Document } from "mongodb";
import { classRatio } from "../../domain/analytics/latency.ts";
import { messagesOf, mostCells, quarterCountsOf, type Tally } from "../../domain/analytics/quarters.ts";
import type { MessageCell, QuarterCounts, TimeClass } from "../../domain/analytics/tables.ts";
import { mostClasses } from "../../domain/analytics/times.ts";
import { quarterMs } from "../../domain/durations.ts";
import { beforeIdsOf } from "../../domain/ids.ts";
import { evidence } from "../../domain/messages/progress.ts";
import { type Metric, metrics } from "../../schema/analytics/metrics.ts";
import { contactChannels } from "../../schema/vocabulary/channels.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { neverSent } from "../messages/first-waiting.ts";
import type { MessageRow } from "../messages/message-row.ts";
import { messageCollection } from "../messages/messages.ts";
import { collectionOf, farAhead, longAgo, type OfApp } from "../mongo/collection.ts";

/** Counters of a quarter of an hour, made from the deliveries of an app that were made in it. */
export const countQuarter =
  (db: Db) =>
  async (of: OfApp, quarter: Date): Promise<QuarterCounts> => {
    const range = { from: quarter, to: new Date(quarter.getTime() + quarterMs) };
    const [counts, messages, times] = await Promise.all([
      countDeliveries(db, of, range),
      countMessages(db, of, range),
      countTimes(db, of, range),
    ]);
    return { ...counts, messages, times };
  };

type Range = { from: Date; to: Date };

const countDeliveries = (db: Db, { tenantId, appId }: OfApp, { from, to }: Range) => {
  const filter = { app_id: appId, created_at: { $gte: from, $lt: to }, tenant_id: tenantId, $nor: [neverSent] };
  const found = collectionOf<DeliveryRow>(db, deliveryCollection).aggregate<Group>(
    [{ $match: filter }, { $group: group }],
    { hint: "made", batchSize: mostCells + 1 },
  );
  return quarterCountsOf(tallies(found));
};

/** Those whose sending has begun: a message and its id are of the same instant. */
const countMessages = (db: Db, { tenantId, appId }: OfApp, { from, to }: Range): Promise<MessageCell[]> => {
  const _id = { $gte: beforeIdsOf("message", from), $lt: beforeIdsOf("message", to) };
  const filter = { app_id: appId, _id, tenant_id: tenantId, started_at: { $gt: longAgo } };
  const key = {
    channels: "$channels",
    source: "$source",
    template_id: orNull("template_id"),
    campaign_id: orNull("campaign_id"),
    category: orNull("category"),
    labels: "$labels",
    segment_ids: listOf("segment_ids"),
  };
  const stages = [{ $match: filter }, { $group: { _id: key, count: { $sum: 1 } } }];
  const found = collectionOf<MessageRow>(db, messageCollection).aggregate<MessageGroup>(stages, { hint: "list" });
  return messagesOf(messageCells(found));
};

/** From when deliveries were made: until they arrived, or until push services took them, which do not tell that. */
const countTimes = async (db: Db, { tenantId, appId }: OfApp, { from, to }: Range): Promise<TimeClass[]> => {
  const times = [
    { channel: { $in: [...contactChannels] }, delivered_at: { $gt: longAgo } },
    { channel: { $nin: [...contactChannels] }, sent_at: { $gt: longAgo } },
  ];
  const filter = { app_id: appId, created_at: { $gte: from, $lt: to }, tenant_id: tenantId, $or: times };
  const end = { $cond: [{ $in: ["$channel", [...contactChannels]] }, "$delivered_at", "$sent_at"] };
  const ms = { $max: [1, { $subtract: [end, "$created_at"] }] };
  const ofTime = { $round: [{ $divide: [{ $ln: ms }, Math.log(classRatio)] }, 0] };
  const key = { channel: "$channel", class: { $min: [mostClasses - 1, ofTime] } };
  const found = await collectionOf<DeliveryRow>(db, deliveryCollection)
    .aggregate<TimeGroup>([{ $match: filter }, { $group: { _id: key, count: { $sum: 1 } } }], { hint: "made" })
    .toArray();
  return found.map(({ _id, count }) => ({ ..._id, count }));
};

type TimeGroup = { _id: Omit<TimeClass, "count">; count: number };

type MessageGroup = { _id: Omit<MessageCell, "count">; count: number };

async function* messageCells(found: AsyncIterable<MessageGroup>): AsyncGenerator<MessageCell> {
  for await (const { _id, count } of found) yield { ..._id, count };
}

/** When a delivery of an app last changed that has not changed for the longest time; null without one. */
export const oldestChange =
  (db: Db) =>
  async ({ tenantId, appId }: OfApp): Promise<Date | null> => {
    const filter = { app_id: appId, updated_at: { $gt: longAgo, $lt: farAhead }, tenant_id: tenantId };
    const options = { hint: "changed", sort: { updated_at: 1, _id: 1 }, projection: { updated_at: 1 } } as const;
    const row = await collectionOf<DeliveryRow>(db, deliveryCollection).findOne(filter, options);
    return row === null ? null : row.updated_at;
  };

type Group = Record<Metric, number> & {
  _id: Pick<
    Tally,
    | "channel"
    | "source"
    | "template_id"
    | "campaign_id"
    | "category"
    | "provider"
    | "error_code"
    | "reason"
    | "domain"
    | "country"
    | "status"
    | "labels"
    | "segment_ids"
  >;
  last_at: Date;
  message_id: string;
};

async function* tallies(found: AsyncIterable<Group>): AsyncGenerator<Tally> {
  for await (const { _id, last_at, message_id, ...counts } of found) yield { ..._id, last_at, message_id, counts };
}

const orNull = (member: string) => ({ $ifNull: [`$${member}`, null] });
const listOf = (member: string) => ({ $ifNull: [`$${member}`, []] });
const when = (condition: Document) => ({ $sum: { $cond: [condition, 1, 0] } });
const has = (member: string) => ({ $gt: [`$${member}`, longAgo] });

const byReported = Object.fromEntries(
  Object.entries(evidence).map(([name, members]) => [name, when({ $or: members.map(has) })]),
);
const byStatus = Object.fromEntries(
  (["suppressed", "failed", "errored", "expired"] as const).map((name) => [name, when({ $eq: ["$status", name] })]),
);

/** Counts of those that have any: one of each that has no count. */
const sumOf = (count: string, members: readonly string[]) => ({
  $sum: { $cond: [{ $or: members.map(has) }, { $max: [1, { $ifNull: [`$${count}`, 1] }] }, 0] },
});

/** Sums of each metric, for a `$group` of deliveries. */
export const metricSums: Record<Metric, unknown> = {
  ...(Object.fromEntries(metrics.map((name) => [name, null])) as Record<Metric, unknown>), // sound: has them all
  targeted: { $sum: 1 },
  ...byReported,
  ...byStatus,
  sms_segments: { $sum: { $ifNull: ["$sms_segments", 0] } },
  conversion_value: { $sum: { $ifNull: ["$conversion_value", 0] } },
  opens_total: sumOf("open_count", evidence.opened), // a click is an open
  clicks_total: sumOf("click_count", evidence.clicked),
  machine_opens: when(has("machine_opened_at")),
  machine_clicks: when(has("machine_clicked_at")),
};

/** What is after the last part of a masked address of a mail: the mask leaves the domain. */
const domain = { $arrayElemAt: [{ $split: [{ $ifNull: ["$address_masked", ""] }, "@"] }, 1] };
const isFailedMail = {
  $and: [{ $gt: ["$error_code", ""] }, { $eq: ["$channel", "email"] }, { $gt: ["$address_masked", ""] }],
};

const group: Document = {
  _id: {
    channel: "$channel",
    source: { $ifNull: ["$source", "api"] },
    template_id: orNull("template_id"),
    campaign_id: orNull("campaign_id"),
    category: orNull("category"),
    provider: orNull("provider"),
    error_code: orNull("error_code"),
    reason: orNull("suppression_reason"),
    status: "$status",
    labels: listOf("labels"),
    segment_ids: listOf("segment_ids"),
    country: { $cond: [{ $gt: ["$error_code", ""] }, orNull("country"), null] },
    domain: { $cond: [isFailedMail, domain, null] },
  },
  ...metricSums,
  last_at: { $max: { $ifNull: ["$failed_at", { $ifNull: ["$bounced_at", "$created_at"] }] } },
  message_id: { $max: "$message_id" },
};
