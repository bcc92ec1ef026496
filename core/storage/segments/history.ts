import type { Db, Filter } from "mongodb";
import { dayMs } from "../../domain/durations.ts";
import { compileFilter } from "../../domain/filters/compile.ts";
import type { MessageStep } from "../../domain/filters/fields.ts";
import type { Detail, HistoryAsk } from "../../domain/filters/history.ts";
import type { FilteredPerson } from "../../domain/filters/subject.ts";
import { mapBounded } from "../../runtime/batching/bounded.ts";
import { type EventRow, eventCollection } from "../events/events.ts";
import { type DeliveryRow, deliveryCollection } from "../messages/deliveries.ts";
import { collectionOf, longAgo } from "../mongo/collection.ts";

/** In one $in. The store compares what it finds with each of them: twice as many cost four times as much. */
const pageNames = 50;
const pagesAtOnce = 4;
const batchSize = 1_000; // events in memory at once

/** A name of somebody in events and deliveries. */
export type HistoryName = { name: string; userId: string };

type Counted = { _id: string; count: number };

/** Counts what people did, one by one, by the indexes of persons: nothing is sampled, and nobody else's is read. */
export const historyCounts = (db: Db) => {
  const ofEvents = eventCounts(db);
  const ofMessages = messageCounts(db);

  /** How often each of some people did it up to an instant; nothing of those who never did. */
  return async (
    appId: string,
    ask: HistoryAsk,
    names: readonly HistoryName[],
    at: Date,
  ): Promise<ReadonlyMap<string, number>> => {
    const from = ask.withinDays === null ? longAgo : new Date(at.getTime() - ask.withinDays * dayMs);
    const asked = { appId, ask, during: { $gte: from, $lte: at } };
    const owners = new Map(names.map(({ name, userId }) => [name, userId]));
    const isOfEvents = ask.of.of === "events";
    const wanted = [...owners.keys()].filter((name) => isOfEvents || isUser(name));
    const pages = Array.from({ length: Math.ceil(wanted.length / pageNames) }, (_, i) =>
      wanted.slice(i * pageNames, (i + 1) * pageNames),
    );
    const count = isOfEvents ? ofEvents : ofMessages;
    const found = (await mapBounded(pages, pagesAtOnce, (page) => count({ ...asked, page }))).flat();
    const counts = new Map<string, number>();
    for (const { _id, count } of found) {
      const owner = owners.get(_id) ?? _id;
      counts.set(owner, (counts.get(owner) ?? 0) + count);
    }
    return counts;
  };
};

const isUser = (name: string): boolean => name.startsWith("usr_");

type Asked = { appId: string; ask: HistoryAsk; page: string[]; during: { $gte: Date; $lte: Date } };

const eventCounts = (db: Db) => {
  const rows = collectionOf<EventRow>(db, eventCollection);
  return async ({ appId, ask, page, during }: Asked): Promise<Counted[]> => {
    const filter = { app_id: appId, person: { $in: page }, name: ask.of.name, occurred_at: during };
    if (ask.where.length === 0)
      return rows
        .aggregate<Counted>([{ $match: filter }, { $group: { _id: "$person", count: { $sum: 1 } } }], {
          hint: "history",
          batchSize: page.length + 1,
        })
        .toArray();
    const isMeant = detailsTest(ask.where, during.$lte);
    const counts = new Map<string, number>();
    const found = rows.find(filter, { hint: "history", projection: { person: 1, properties: 1 }, batchSize });
    for await (const { person = "", properties } of found)
      if (isMeant(properties)) counts.set(person, (counts.get(person) ?? 0) + 1);
    return [...counts].map(([_id, count]) => ({ _id, count }));
  };
};

/** Judges the properties of an event, JSON, as filters judge those of a person. */
const detailsTest = (where: readonly Detail[], now: Date): ((properties: string | undefined) => boolean) => {
  const of = where.map((one) => ({ kind: "condition" as const, path: "", name: one.property, ...one }));
  const passes = compileFilter({ kind: "group", path: "", match: "all", of }, now);
  return (properties) => {
    const person = { properties: properties === undefined ? {} : JSON.parse(properties) } as FilteredPerson; // sound: the fields of details read nothing else
    return passes({ person, subscription: null });
  };
};

const messageCounts = (db: Db) => {
  const rows = collectionOf<DeliveryRow>(db, deliveryCollection);
  return ({ appId, ask, page, during }: Asked): Promise<Counted[]> => {
    const { hint, match } = steps[ask.of.name as MessageStep]; // sound: of a question about messages
    const details = ask.where.map(({ property, op, value }) => ({ [property]: detailQuery[op]?.(value) }));
    const filter = {
      user_id: { $in: page },
      ...match(during),
      app_id: appId,
      ...(details.length > 0 && { $and: details }),
    };
    return rows
      .aggregate<Counted>([{ $match: filter }, { $group: { _id: "$user_id", count: { $sum: 1 } } }], {
        hint,
        batchSize: page.length + 1,
      })
      .toArray();
  };
};

const detailQuery: Partial<Record<Detail["op"], (value: unknown) => object>> = {
  eq: (value) => ({ $eq: value }),
  neq: (value) => ({ $ne: value }),
  in: (value) => ({ $in: value }),
  not_in: (value) => ({ $nin: value }),
};

type During = Asked["during"];
type Step = { hint: string; match: (during: During) => Filter<DeliveryRow> };

/** What a provider took and nobody refused. */
const reached = ["sent", "delivered", "opened", "clicked", "complained", "unsubscribed"] as const;

const everSent = { sent_at: { $gt: longAgo } };

const steps: Record<MessageStep, Step> = {
  received: { hint: "sent_to", match: (sent_at) => ({ sent_at, status: { $in: [...reached] } }) },
  opened: {
    hint: "sent_to",
    match: (during) => ({
      ...everSent,
      $or: [{ opened_at: during }, { opened_at: { $exists: false }, clicked_at: during }],
    }),
  },
  clicked: { hint: "clicked_by", match: (clicked_at) => ({ clicked_at }) },
};
