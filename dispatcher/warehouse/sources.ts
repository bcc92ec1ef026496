import { LRUCache } from "lru-cache";
import type { Db, Document } from "mongodb";
import { maskAddress } from "#core/channels/addresses.ts";
import type { Cell } from "#core/domain/exports/csv.ts";
import type { WarehouseDataset } from "#core/schema/warehouse/export.ts";
import { eventDefinitionCollection } from "#core/storage/events/definitions.ts";
import { type EventRow, eventCollection } from "#core/storage/events/events.ts";
import { type DeliveryRow, deliveryCollection } from "#core/storage/messages/deliveries.ts";
import type { MessageRow } from "#core/storage/messages/message-row.ts";
import { messageCollection } from "#core/storage/messages/messages.ts";
import { type CollectionSpec, collectionOf, type OfApp } from "#core/storage/mongo/collection.ts";
import { type SubscriptionRow, subscriptionCollection } from "#core/storage/people/subscription-row.ts";
import { type UserRow, userCollection } from "#core/storage/people/users.ts";
import { type SuppressionRow, suppressionCollection } from "#core/storage/suppressions/suppressions.ts";
import { changePage } from "#core/storage/warehouse/changes.ts";

/** Of any collection. */
export type ReadDocument = Document & { _id: string };

/** What a dataset is read from. */
export type DatasetSource = {
  collection: CollectionSpec;
  /** Columns that are not the member of their name. */
  readers?: ReadonlyMap<string, Reader>;
  /** The member that has the instant by which rows fall into windows; default `updated_at`. */
  by?: string;
  /** Adds to the rows of a page what stands in other collections. */
  join?: (db: Db, of: OfApp) => (page: readonly ReadDocument[]) => Promise<ReadDocument[]>;
};

/** What of a row stands in a column, and the members that say it. */
type Reader = { reads: readonly string[]; of: (row: Document) => Cell };

const reader = <Row extends Document>(reads: readonly (keyof Row & string)[], of: (row: Row) => Cell): Reader => ({
  reads,
  of: of as Reader["of"], // sound: rows of the collection beside it
});

/** Addresses and tokens are masked: docs/reference/warehouse.md#columns. */
export const sources: Readonly<Record<WarehouseDataset, DatasetSource>> = {
  users: {
    collection: userCollection,
    readers: new Map([["session_count", reader<UserRow>(["session_count"], (row) => row.session_count ?? 0)]]),
  },
  subscriptions: {
    collection: subscriptionCollection,
    readers: new Map([
      ["token_masked", reader<SubscriptionRow>(["channel", "token"], (row) => maskAddress(row.channel, row.token))],
    ]),
  },
  events: {
    collection: eventCollection,
    readers: new Map([
      ["properties", reader<EventRow>(["properties"], (row) => JSON.parse(row.properties ?? "{}") as object)],
      ["received_at", reader<EventRow>(["stored_at"], (row) => row.stored_at)],
    ]),
    by: "stored_at",
  },
  messages: { collection: messageCollection },
  deliveries: { collection: deliveryCollection, join: withCampaigns },
  suppressions: {
    collection: suppressionCollection,
    readers: new Map([["address_masked", reader<SuppressionRow>(["channel", "address"], maskedOf)]]),
  },
  event_definitions: { collection: eventDefinitionCollection },
};

function maskedOf({ channel, address }: SuppressionRow): string | null {
  return channel === null || address === null ? null : maskAddress(channel, address);
}

/** Deliveries with the campaigns of their messages, which never change. */
function withCampaigns(db: Db, { tenantId, appId }: OfApp) {
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const known = new LRUCache<string, { id: string | null }>({ max: mostMessages });
  const read = async (ids: readonly string[]): Promise<void> => {
    const filter = { _id: { $in: [...ids] }, app_id: appId, tenant_id: tenantId };
    const found = await messages.find(filter, { projection: { campaign_id: 1 }, batchSize: ids.length + 1 }).toArray();
    for (const id of ids) known.set(id, { id: null });
    for (const { _id, campaign_id } of found) known.set(_id, { id: campaign_id ?? null });
  };
  return async (page: readonly ReadDocument[]): Promise<ReadDocument[]> => {
    const rows = page as readonly Pick<DeliveryRow, "_id" | "message_id">[]; // sound: rows of the collection above
    const missing = new Set(rows.flatMap(({ message_id: id }) => (known.has(id) ? [] : [id])));
    if (missing.size > 0) await read([...missing]);
    return rows.map((row) => ({ ...row, campaign_id: known.get(row.message_id)?.id ?? null }));
  };
}

const mostMessages = 2 * changePage; // more than a page can be of
