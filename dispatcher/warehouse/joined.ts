import { LRUCache } from "lru-cache";
import type { Db } from "mongodb";
import { type Happened, happenedTo } from "#core/domain/exports/message-events.ts";
import { failureTakenBack, receivedAt } from "#core/domain/messages/received.ts";
import type { ConversionRow } from "#core/storage/events/conversions.ts";
import type { OfCampaign } from "#core/storage/exports/pages.ts";
import type { InAppEventRow } from "#core/storage/in-app-messages/events.ts";
import { type DeliveryRow, deliveries } from "#core/storage/messages/deliveries.ts";
import { waitsForFirst } from "#core/storage/messages/first-waiting.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { changePage } from "#core/storage/warehouse/changes.ts";
import { inAppRow } from "../exports/in-app-events.ts";
import type { MessageEventRow } from "../exports/message-event-row.ts";
import { messageEventDocument } from "../exports/message-events.ts";
import type { InWindow, ReadDocument } from "./read-document.ts";

type Join = (page: readonly ReadDocument[]) => Promise<ReadDocument[]>;

/** Deliveries with the campaigns of their messages, which never change. */
export const withCampaigns = (db: Db, { tenantId, appId }: OfApp): Join => {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const known = new LRUCache<string, { id: string | null }>({ max: mostMessages });
  const read = async (ids: readonly string[]): Promise<void> => {
    const filter = { _id: { $in: [...ids] }, app_id: appId, tenant_id: tenantId };
    const found = await messages.find(filter, { projection: { campaign_id: 1 }, batchSize: ids.length + 1 }).toArray();
    for (const id of ids) known.set(id, { id: null });
    for (const { _id, campaign_id } of found) known.set(_id, { id: campaign_id ?? null });
  };
  return async (page) => {
    const rows = page as readonly Pick<DeliveryRow, "_id" | "message_id">[]; // sound: rows of deliveries
    const missing = new Set(rows.flatMap(({ message_id: id }) => (known.has(id) ? [] : [id])));
    if (missing.size > 0) await read([...missing]);
    return rows.map((row) => ({ ...row, campaign_id: known.get(row.message_id)?.id ?? null }));
  };
};

const mostMessages = 2 * changePage; // more than a page can be of

/** What happened to the deliveries of a page and was stored in the window, but for conversions. */
export const eventsOfDeliveries = (db: Db, of: OfApp, { from, to }: InWindow): Join => {
  const campaigns = withCampaigns(db, of);
  return async (page) => {
    const rows = (await campaigns(page)) as OfCampaign[]; // sound: rows of deliveries
    return rows.flatMap((delivery) =>
      allOf(delivery).flatMap((happened) => {
        const at = receivedAt(delivery, happened);
        return at >= from && at < to ? [rowOf({ ...happened, delivery }, at)] : [];
      }),
    );
  };
};

/** One that waits for its time has not begun: what becomes of it takes its place. */
const allOf = (delivery: DeliveryRow): Happened[] => {
  if (waitsForFirst(delivery)) return [];
  const before = failureTakenBack(delivery);
  return before === null ? happenedTo(delivery) : [...happenedTo(delivery), before];
};

/** What of a conversion its row shows. */
export const conversionMembers = [
  "event_id",
  "event_name",
  "user_id",
  "external_id",
  "value",
  "attribution",
  "message_id",
  "delivery_id",
  "subscription_id",
  "channel",
  "occurred_at",
] as const satisfies readonly (keyof ConversionRow)[];

/** The conversions of a page that count for a delivery. */
export const conversionsOfDeliveries = (db: Db, of: OfApp): Join => {
  const campaigns = withCampaigns(db, of);
  return async (page) => {
    const rows = page as readonly ConversionRow[]; // sound: rows of conversions
    const ids = rows.flatMap(({ delivery_id: id }) => id ?? []);
    const found = (await campaigns(await deliveries(db).existing(ids))) as OfCampaign[]; // sound: as above
    const byId = new Map(found.map((delivery) => [delivery._id, delivery]));
    return rows.flatMap((conversion) => {
      if (conversion.delivery_id === null) return [];
      const delivery = byId.get(conversion.delivery_id) ?? goneDelivery(conversion, conversion.delivery_id);
      const happened = { event: "converted" as const, at: conversion.occurred_at };
      return rowOf({ ...happened, delivery, conversion }, conversion.created_at);
    });
  };
};

/** What people did with in-app messages. */
export const inAppEventsAsRows = (): Join => async (page) => {
  const rows = page as readonly InAppEventRow[]; // sound: rows of such events
  return rows.map((row) => rowOf(inAppRow(row), row.at));
};

const rowOf = (row: MessageEventRow, receivedAt: Date): ReadDocument => ({
  ...messageEventDocument(row),
  received_at: receivedAt,
});

/** What is known of one that is no longer kept. */
const goneDelivery = (
  { message_id, subscription_id, user_id, external_id, channel }: ConversionRow,
  id: string,
): MessageEventRow["delivery"] => ({
  _id: id,
  message_id,
  subscription_id,
  user_id,
  channel,
  ...(external_id !== null && { external_id }),
});
