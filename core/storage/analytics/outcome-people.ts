import type { Collection, Db, Document, Filter } from "mongodb";
import { analyticsLimits } from "../../schema/analytics/query.ts";
import { type Channel, channels } from "../../schema/vocabulary/channels.ts";
import { type ConversionRow, conversionCollection } from "../events/conversions.ts";
import { type EventRow, eventCollection } from "../events/events.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import type { Counted, EventSum, HourRange } from "./event-sums.ts";
import type { OutcomePeople } from "./people-reports.ts";

export type OutcomePeopleOf = ReturnType<typeof outcomePeople>;

/** Reads all events, or conversions, of a name in a range: only jobs do. */
export const outcomePeople =
  (db: Db) =>
  async (
    { tenantId, appId }: OfApp,
    { name, counted }: { name: string; counted: Counted },
    { from, to }: HourRange,
  ): Promise<OutcomePeople> => {
    const conversions = collectionOf<ConversionRow>(db, conversionCollection);
    const of = { app_id: appId, occurred_at: { $gte: from, $lt: to }, tenant_id: tenantId };
    const converted = { ...of, event_name: name, ...(counted !== "total" && { attribution: counted }) };
    const people =
      counted === "total"
        ? peopleOf(collectionOf<EventRow>(db, eventCollection), { ...of, name })
        : peopleOf(conversions, converted);
    const [unique_users, by_message, by_channel] = await Promise.all([
      people,
      messagesOf(conversions, converted),
      channelsOf(conversions, converted),
    ]);
    return { name, unique_users, by_message, by_channel };
  };

/** As events name them; nobody's are of none. */
const peopleOf = async <Row extends Document>(rows: Collection<Row>, filter: Filter<Row>): Promise<number> => {
  const somebody = { ...filter, person: { $gt: "" } };
  const stages = [{ $match: somebody }, { $group: { _id: "$person" } }, { $group: { _id: null, count: { $sum: 1 } } }];
  const [found] = await rows.aggregate<{ count: number }>(stages, { hint: "list" }).toArray();
  return found?.count ?? 0;
};

const messagesOf = async (
  rows: Collection<ConversionRow>,
  filter: Filter<ConversionRow>,
): Promise<OutcomePeople["by_message"]> => {
  const ofMessages = { ...filter, message_id: { $gt: "" } };
  const group = { _id: "$message_id", count: { $sum: 1 }, sum: { $sum: "$value" } };
  const found = rows.aggregate<Group>([{ $match: ofMessages }, { $group: group }], { hint: "list", batchSize: 1_000 });
  const first: Group[] = [];
  for await (const one of found) {
    first.push(one);
    if (first.length >= 20 * most) keepLargest(first);
  }
  keepLargest(first);
  return first.map(({ _id: message_id, count, sum }) => ({ message_id, count, sum }));
};

type Group = { _id: string; count: number; sum: number };

const most = analyticsLimits.messagesOfOutcome;

/** By the channel of the delivery that led to them. */
const channelsOf = async (
  rows: Collection<ConversionRow>,
  filter: Filter<ConversionRow>,
): Promise<OutcomePeople["by_channel"]> => {
  const group = { _id: "$channel", count: { $sum: 1 }, sum: { $sum: "$value" } };
  const stages = [{ $match: { ...filter, channel: { $gt: "" } } }, { $group: group }];
  const found = await rows
    .aggregate<EventSum & { _id: Channel }>(stages, { hint: "list", batchSize: channels.length + 1 })
    .toArray();
  return found
    .map(({ _id: channel, count, sum }) => ({ channel, count, sum }))
    .sort((a, b) => b.count - a.count || (a.channel < b.channel ? -1 : 1));
};

/** In place. */
const keepLargest = (groups: Group[]): void => {
  groups.sort((a, b) => b.count - a.count || (a._id < b._id ? -1 : 1));
  groups.length = Math.min(groups.length, most);
};
