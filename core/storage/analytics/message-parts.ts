import type { Collection, Db, Document } from "mongodb";
import { classRatio } from "../../domain/analytics/latency.ts";
import type { Metrics } from "../../schema/analytics/metrics.ts";
import type { Channel } from "../../schema/vocabulary/channels.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { metricSums } from "./quarter-counts.ts";

/** What the report of a message tells apart. Each list has its most frequent ones, at most {@link mostParts}. */
export type MessageParts = {
  cells: PartCell[];
  links: { url: string; count: number }[];
  buttons: { id: string; count: number }[];
  latency: PartLatency[];
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

/** Reads all deliveries of a message, four times. */
export const messageParts =
  (db: Db) =>
  async (messageId: string): Promise<MessageParts> => {
    const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
    const of = { message_id: messageId, position: anyText };
    const [cells, clicks, sent, delivered] = await Promise.all([
      cellsOf(rows, of),
      clicksOf(rows, of),
      timesOf(rows, of, { step: "sent", from: "created_at", to: "sent_at" }),
      timesOf(rows, of, { step: "delivered", from: "sent_at", to: "delivered_at" }),
    ]);
    const links = summed(clicks, ({ url }) => url).map(([url, count]) => ({ url, count }));
    const buttons = summed(clicks, ({ button }) => button).map(([id, count]) => ({ id, count }));
    return {
      cells,
      links: links.slice(0, most.links),
      buttons: buttons.slice(0, most.buttons),
      latency: [...sent, ...delivered],
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

type Click = { url: string | null; button: string | null; count: number };

/** By address without what follows a question mark: that is often of one person alone. */
const clicksOf = async (rows: Collection<DeliveryRow>, of: Of): Promise<Click[]> => {
  const url = { $arrayElemAt: [{ $split: [{ $ifNull: ["$clicked_url", ""] }, "?"] }, 0] };
  const stages = [
    { $match: { ...of, clicked_at: { $gt: longAgo } } },
    { $group: { _id: { url, button: { $ifNull: ["$clicked_button_id", ""] } }, count: { $sum: 1 } } },
  ];
  const found = await firstOf(rows.aggregate<{ _id: { url: string; button: string }; count: number }>(stages, read));
  return found.map(({ _id, count }) => ({ url: _id.url || null, button: _id.button || null, count }));
};

const summed = (clicks: readonly Click[], nameOf: (click: Click) => string | null): [string, number][] => {
  const sums = new Map<string, number>();
  for (const click of clicks) {
    const name = nameOf(click);
    if (name !== null) sums.set(name, (sums.get(name) ?? 0) + click.count);
  }
  return [...sums].sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1));
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
