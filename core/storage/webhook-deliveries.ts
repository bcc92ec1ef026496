import { type Db, MongoBulkWriteError } from "mongodb";
import type { WebhookErrorClass } from "../domain/webhook-errors.ts";
import { type CollectionSpec, collectionOf, longAgo } from "./collection.ts";

/** One request that was made for a delivery. */
export type AttemptRow = {
  at: Date;
  response_status: number | null;
  duration_ms: number;
  error_class: WebhookErrorClass | null;
  /** In words; never an address or a secret. */
  error: string | null;
  response_body_excerpt: string | null;
};

/**
 * One event (or batch of events) on its way to one endpoint. `_id` follows from (endpoint, event) and sorts by the event's
 * time, so that an event arrives once and lists need no other order; that of a replay is new.
 */
export type WebhookDeliveryRow = {
  _id: string;
  tenant_id: string;
  app_id: string;
  endpoint_id: string;
  event_id: string;
  /** A kind, or `batch` for several kinds. */
  event_type: string;
  subject_id: string | null;
  /** The envelope as JSON, at most 65,536 bytes: what is sent when there is no template. */
  payload: string;
  /** Whom the payload is about (`usr_…`, `external_id:…`): found by these when a person is erased. */
  people: string[];
  status: "pending" | "success" | "failed" | "dead";
  /** Requests made. */
  attempt: number;
  attempts: AttemptRow[];
  /** Why it ended without a request, e.g. `endpoint disabled`; null otherwise. */
  error: string | null;
  /** When the next request is due; null when it has ended. */
  due_at: Date | null;
  delivered_at: Date | null;
  replay_of: string | null;
  created_at: Date;
};

/** Delivery history is kept this long. Source: spec part 8. */
export const webhookHistoryDays = 30;

export const webhookDeliveryCollection: CollectionSpec = {
  name: "webhook_deliveries",
  indexes: [
    {
      key: { endpoint_id: 1, status: 1, due_at: 1 },
      name: "due",
      partialFilterExpression: { due_at: { $gt: new Date(0) } },
    },
    { key: { endpoint_id: 1, _id: 1 }, name: "list" },
    { key: { endpoint_id: 1, status: 1, _id: 1 }, name: "list_status" },
    { key: { endpoint_id: 1, event_type: 1, status: 1, _id: 1 }, name: "list_type" },
    { key: { app_id: 1, people: 1 }, name: "people" },
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
