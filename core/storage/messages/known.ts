import type { Db } from "mongodb";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { type DeliveryRow, deliveryCollection } from "./deliveries.ts";
import { endedStatuses, type MessageRow } from "./message-row.ts";
import { messageCollection } from "./messages.ts";

/** A delivery that may be, by the message and the subscription that it would be of. */
export type Supposed = { deliveryId: string; messageId: string };

/**
 * Says which of 100 deliveries at most are there, or may come yet as their message has not ended; with the live activity that
 * they are of, null where they are of none.
 */
export type KnownDeliveries = (of: OfApp, supposed: readonly Supposed[]) => Promise<ReadonlyMap<string, string | null>>;

export const knownDeliveries = (db: Db): KnownDeliveries => {
  const deliveries = collectionOf<DeliveryRow>(db, deliveryCollection);
  const messages = collectionOf<MessageRow>(db, messageCollection);
  const byId = { batchSize: 101, hint: "_id_" } as const;
  return async ({ tenantId, appId }, supposed) => {
    if (supposed.length === 0) return new Map();
    const of = { app_id: appId, tenant_id: tenantId };
    const ids = supposed.map(({ deliveryId }) => deliveryId);
    const stored = await deliveries
      .find({ _id: { $in: ids }, ...of }, { projection: { activity_id: 1 }, ...byId })
      .toArray();
    const known = new Map(stored.map(({ _id, activity_id: activity = null }) => [_id, activity]));
    const missing = supposed.filter(({ deliveryId }) => !known.has(deliveryId));
    if (missing.length === 0) return known;
    const open = { $or: [{ status: { $nin: [...endedStatuses] } }, { "options.fallback": { $exists: true } }] };
    const found = await messages
      .find(
        { _id: { $in: [...new Set(missing.map(({ messageId }) => messageId))] }, ...of, ...open },
        { projection: { "live_activity.activity_id": 1 }, ...byId },
      )
      .toArray();
    const ofOpen = new Map(found.map(({ _id, live_activity: activity }) => [_id, activity?.activity_id ?? null]));
    for (const { deliveryId, messageId } of missing) {
      const activity = ofOpen.get(messageId);
      if (activity !== undefined) known.set(deliveryId, activity);
    }
    return known;
  };
};
