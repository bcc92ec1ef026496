import { type Db, MongoBulkWriteError } from "mongodb";
import type { EventEnvelope } from "../schema/event.ts";
import { type CollectionSpec, collectionOf, longAgo } from "./collection.ts";

/** One event on its way to one endpoint. `_id` follows from (endpoint, event), so that an event arrives once. */
export type WebhookDeliveryRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  endpoint_id: string;
  event_id: string;
  event_type: string;
  subject_id: string | null;
  payload: EventEnvelope;
  status: "pending" | "success" | "failed" | "dead";
  /** Requests made. */
  attempt: number;
  /** When the next request is due; null when it has ended. */
  due_at: Date | null;
  response_status: number | null;
  response_body_excerpt: string | null;
  error: string | null;
  duration_ms: number | null;
  delivered_at: Date | null;
  created_at: Date;
};

/** Delivery history is kept this long. Source: spec part 8. */
export const webhookHistoryDays = 30;

export const webhookDeliveryCollection: CollectionSpec = {
  name: "webhook_deliveries",
  indexes: [
    {
      key: { endpoint_id: 1, due_at: 1, _id: 1 },
      name: "due",
      partialFilterExpression: { due_at: { $gt: new Date(0) } },
    },
    { key: { endpoint_id: 1, created_at: -1 }, name: "list" },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: webhookHistoryDays * 86_400 },
  ],
};

/** What one request to an endpoint changes in its delivery. */
export type WebhookAttempt = { _id: string } & Pick<
  WebhookDeliveryRow,
  | "status"
  | "attempt"
  | "due_at"
  | "response_status"
  | "response_body_excerpt"
  | "error"
  | "duration_ms"
  | "delivered_at"
>;

export type WebhookDeliveries = ReturnType<typeof webhookDeliveries>;

export const webhookDeliveries = (db: Db) => {
  const rows = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
  return {
    rows,

    /** Keeps new deliveries; those that exist already stay as they are. */
    keep: async (made: readonly WebhookDeliveryRow[]): Promise<void> => {
      try {
        await rows.insertMany([...made], { ordered: false });
      } catch (error) {
        if (!isOnlyDuplicates(error)) throw error;
      }
    },

    /** What is to be sent now, the longest due first. */
    due: (endpointId: string, now: Date, limit: number): Promise<WebhookDeliveryRow[]> =>
      rows.find(waiting(endpointId, now)).sort({ due_at: 1, _id: 1 }).limit(limit).toArray(),

    /** When the next delivery is due; null when none waits. */
    nextDueAt: async (endpointId: string): Promise<Date | null> => {
      const [first] = await rows
        .find(waiting(endpointId, forever))
        .project<{ due_at: Date }>({ due_at: 1 })
        .sort({ due_at: 1, _id: 1 })
        .limit(1)
        .toArray();
      return first?.due_at ?? null;
    },

    /** Writes the results of requests; one that is written already, or overtaken, changes nothing. */
    record: async (attempts: readonly WebhookAttempt[]): Promise<void> => {
      await rows.bulkWrite(
        attempts.map(({ _id, ...result }) => ({
          updateOne: { filter: { _id, attempt: result.attempt - 1 }, update: { $set: result } },
        })),
        { ordered: false },
      );
    },

    /** Ends everything that waits for an endpoint. */
    bury: async (endpointId: string, error: string): Promise<void> => {
      await rows.updateMany(waiting(endpointId, forever), { $set: { status: "dead", error, due_at: null } });
    },
  };
};

const forever = new Date("9999-12-31T23:59:59Z");

/** Deliveries of an endpoint that are due by an instant; the partial index is used for a two-sided range only. */
const waiting = (endpointId: string, by: Date) => ({ endpoint_id: endpointId, due_at: { $gt: longAgo, $lte: by } });

const duplicateKey = 11_000;

const isOnlyDuplicates = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError && [error.writeErrors].flat().every(({ code }) => code === duplicateKey);
