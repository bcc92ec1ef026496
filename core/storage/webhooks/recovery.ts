import type { Db } from "mongodb";
import { collectionOf } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { findIds } from "../mongo/pages.ts";
import { type WebhookDeliveryRow, webhookDeliveryCollection } from "./deliveries.ts";
import { type DeliveryStatus, type HistoryRange, historyReader, type OneStatus } from "./history.ts";

export type WebhookRecovery = ReturnType<typeof webhookRecovery>;

type Part = HistoryRange & { limit: number };

/** What is read and written to send deliveries again, besides the new deliveries. */
export const webhookRecovery = (db: Db) => {
  const rows = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
  const read = historyReader(rows);
  return {
    /** Whole deliveries of one status, the oldest first. */
    oldest: (endpointId: string, filter: OneStatus, part: Part): Promise<WebhookDeliveryRow[]> =>
      read(endpointId, filter, { ...part, isDescending: false }, {}),

    /** Ids of deliveries of one status, the oldest first. */
    oldestIds: async (endpointId: string, status: DeliveryStatus, part: Part): Promise<string[]> => {
      const page = { ...part, isDescending: false };
      const found = await read<{ _id: string }>(endpointId, { status, eventType: null }, page, { _id: 1 });
      return found.map(({ _id }) => _id);
    },

    /** Of these, the ids of those that arrived. */
    arrived: async (ids: readonly string[]): Promise<Set<string>> => {
      if (ids.length === 0) return new Set();
      return new Set(await findIds(rows, { _id: { $in: [...ids] }, status: "success" }));
    },

    /** Replays of events that have arrived or still may. */
    liveReplays: (endpointId: string, eventIds: readonly string[]): Promise<LiveReplay[]> =>
      rows
        .find<LiveReplay>(
          {
            endpoint_id: endpointId,
            event_id: { $in: [...eventIds] },
            replay_of: anyText, // a partial index is used for a two-sided range only
            status: { $in: ["pending", "failed", "success"] },
          },
          { projection: { event_id: 1, replay_of: 1 }, hint: "replays" },
        )
        .toArray(),

    /** Has failed deliveries tried again now instead of later. */
    retryNow: async (ids: readonly string[], now: Date): Promise<void> => {
      if (ids.length === 0) return;
      const later = { _id: { $in: [...ids] }, status: "failed" as const, due_at: { $gt: now } };
      await rows.updateMany(later, { $set: { due_at: now } });
    },
  };
};

export type LiveReplay = Pick<WebhookDeliveryRow, "_id" | "event_id" | "replay_of">;
