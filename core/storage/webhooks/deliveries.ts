import { type AnyBulkWriteOperation, type Collection, type Db } from "mongodb";
import { shareOf } from "../../domain/webhooks/shares.ts";
import type { WebhookErrorClass } from "../../schema/vocabulary/webhook-errors.ts";
import { type CollectionSpec, collectionOf, farAhead, longAgo } from "../mongo/collection.ts";
import { insertMissing, insertNew } from "../mongo/duplicate.ts";
import { findIds } from "../mongo/pages.ts";
import { eraseDeliveries } from "./erasure.ts";
import type { StoredPeople } from "./people.ts";

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
  /** The endpoint's: its owner finds by it what waits. */
  share: number;
  event_id: string;
  /** The events of a batch: one that comes again is known by them. Absent otherwise. */
  event_ids?: string[];
  /** A kind, or `batch` for several kinds. */
  event_type: string;
  subject_id: string | null;
  /** The envelope as JSON, at most 65,536 bytes: what is sent when there is no template. */
  payload: string;
  /** Whom the payload is about: found by these when a person is erased. */
  people: StoredPeople;
  status: "pending" | "success" | "failed" | "dead";
  /** Requests made. */
  attempt: number;
  attempts: AttemptRow[];
  /** Why it ended without a request, e.g. `endpoint disabled`; null otherwise. */
  error: string | null;
  /** When the next request is due; null when it has ended. */
  due_at: Date | null;
  delivered_at: Date | null;
  /** W3C trace contexts of what led to it, of those that are traced: 32 at most. Absent without any. */
  traces?: readonly string[];
  replay_of: string | null;
  created_at: Date;
};

/** Delivery history is kept this long. Source: docs/reference/webhooks.md#history. */
export const webhookHistoryDays = 30;

export const webhookDeliveryCollection: CollectionSpec = {
  name: "webhook_deliveries",
  indexes: [
    {
      key: { share: 1, endpoint_id: 1, status: 1, due_at: 1 },
      name: "waiting",
      partialFilterExpression: { due_at: { $gt: new Date(0) } },
    },
    { key: { endpoint_id: 1, status: 1, _id: 1 }, name: "list_status" },
    { key: { endpoint_id: 1, event_type: 1, status: 1, _id: 1 }, name: "list_type" },
    { key: { endpoint_id: 1, event_id: 1 }, name: "replays", partialFilterExpression: { replay_of: { $gt: "" } } },
    { key: { app_id: 1, people: 1 }, name: "people" },
    {
      key: { endpoint_id: 1, event_ids: 1 },
      name: "grouped",
      partialFilterExpression: { event_ids: { $exists: true } },
    },
    { key: { created_at: 1 }, name: "retention", expireAfterSeconds: webhookHistoryDays * 86_400 },
  ],
  former: ["due", "list"],
  owner: { kind: "webhook", member: "endpoint_id" },
  appRemoval: { index: "people" },
  erasure: {
    erase: (db, person, onPage) => eraseDeliveries(collectionOf(db, webhookDeliveryCollection), person, onPage),
  },
  retention: { index: "retention" },
};

/** What a request changes in the delivery that it was made for. */
export type DeliveryResult = Pick<WebhookDeliveryRow, "_id" | "status" | "attempt" | "due_at" | "delivered_at"> & {
  made: AttemptRow;
};

export type WebhookDeliveries = ReturnType<typeof webhookDeliveries>;

export const webhookDeliveries = (db: Db) => {
  const rows = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
  return {
    ...ending(rows),
    ...waitingReads(rows),

    /**
     * Keeps new deliveries; those that exist already stay as they are. An outcome (of one that was sent before it was
     * stored) is recorded with the delivery that another process has stored as waiting meanwhile.
     */
    keep: async (made: readonly WebhookDeliveryRow[]): Promise<void> => {
      const existing = await insertMissing(rows, made);
      const sent = made.filter(({ _id }) => existing.has(_id)).flatMap(resultOf);
      if (sent.length > 0) await record(rows, sent);
    },

    /** Stores a delivery that is sent at once; false when it was begun before. */
    begin: (row: WebhookDeliveryRow): Promise<boolean> => insertNew(rows, row),

    find: (id: string): Promise<WebhookDeliveryRow | null> => rows.findOne({ _id: id }),

    /** Which of these are stored already. */
    known: async (ids: readonly string[]): Promise<Set<string>> =>
      new Set(await findIds(rows, { _id: { $in: [...ids] } })),

    /** Which of these events are in a stored batch of the endpoint. */
    grouped: async (endpointId: string, eventIds: readonly string[]): Promise<Set<string>> => {
      const found = await rows
        .find(
          { endpoint_id: endpointId, event_ids: { $in: [...eventIds] } },
          { projection: { event_ids: 1 }, hint: "grouped", batchSize: eventIds.length + 1 },
        )
        .toArray();
      return new Set(found.flatMap(({ event_ids: ids = [] }) => ids));
    },

    /** Writes the results of requests; one that is written already, or overtaken, changes nothing. */
    record: (results: readonly DeliveryResult[]): Promise<void> => record(rows, results),
  };
};

const record = async (rows: Collection<WebhookDeliveryRow>, results: readonly DeliveryResult[]): Promise<void> => {
  await rows.bulkWrite(results.flatMap(recording), { ordered: false });
};

/**
 * A delivery that was ended while its request was under way arrives after all, or stays ended: it never waits again. So
 * deliveries only move on: pending, failed, dead, success.
 */
const recording = ({ _id, made, ...set }: DeliveryResult): AnyBulkWriteOperation<WebhookDeliveryRow>[] => {
  const before = { _id, attempt: set.attempt - 1 };
  const $push = { attempts: made };
  const update = { $set: { ...set, error: null }, $push };
  if (set.due_at === null) return [{ updateOne: { filter: before, update } }];
  return [
    { updateOne: { filter: { ...before, due_at: { $ne: null } }, update } },
    { updateOne: { filter: { ...before, due_at: null }, update: { $set: { attempt: set.attempt }, $push } } },
  ];
};

const resultOf = (row: WebhookDeliveryRow): DeliveryResult[] => {
  const { _id, status, attempt, due_at, delivered_at } = row;
  const made = row.attempts.at(-1);
  return made === undefined ? [] : [{ _id, status, attempt, due_at, delivered_at, made }];
};

const dueFirst = { projection: { due_at: 1 }, sort: { due_at: 1 } } as const;
const waitingMembers = { endpoint_id: 1, status: 1, due_at: 1 } as const;

/** What waits to be sent. */
const waitingReads = (rows: Collection<WebhookDeliveryRow>) => ({
  /** What is to be sent now, the longest due first: `pending` was never tried, `failed` is to be tried again. */
  due: (endpointId: string, { status, now, limit }: Due): Promise<WebhookDeliveryRow[]> =>
    rows
      .find(waiting(endpointId, status, now))
      .sort({ due_at: 1 })
      .limit(limit)
      .batchSize(limit)
      .toArray(),

  /** When the next delivery is due, of those that are not due by `after`; null when none waits. */
  nextDueAt: async (endpointId: string, after: Date = longAgo): Promise<Date | null> => {
    const firsts = await Promise.all(
      waitingStatuses.map((status) => {
        const next = { ...waiting(endpointId, status, farAhead), due_at: { $gt: after, $lte: farAhead } };
        return rows.findOne(next, dueFirst);
      }),
    );
    const instants = firsts.flatMap((row) => row?.due_at?.getTime() ?? []);
    return instants.length === 0 ? null : new Date(Math.min(...instants));
  },

  /** The first endpoint of a share behind `after`, in the order of their ids, for which something waits, and since or until when. */
  nextWaiting: async (share: number, after: string): Promise<{ endpointId: string; dueAt: Date } | null> => {
    const behind = { share, endpoint_id: { $gt: after }, due_at: { $gt: longAgo, $lte: farAhead } };
    const inOrder = { share: 1, endpoint_id: 1, status: 1, due_at: 1 } as const;
    const first = await rows.findOne(behind, { projection: waitingMembers, sort: inOrder, hint: "waiting" });
    if (first === null || first.due_at === null) return null;
    const { endpoint_id: endpointId, status, due_at: dueAt } = first;
    if (status === "pending") return { endpointId, dueAt }; // `failed` comes before it, so nothing else waits
    const pending = await rows.findOne(waiting(endpointId, "pending", dueAt), { ...dueFirst, hint: "waiting" });
    return { endpointId, dueAt: pending?.due_at ?? dueAt };
  },
});

/** What becomes of deliveries whose endpoint is not sent to any more. */
const ending = (rows: Collection<WebhookDeliveryRow>) => ({
  /** Ends a page of what waits for an endpoint; how many there were: call again while it is a full page. */
  endPage: async (endpointId: string, error: string): Promise<number> => {
    const pages = await Promise.all(
      waitingStatuses.map((status) => findIds(rows, waiting(endpointId, status, farAhead), { limit: endedRows })),
    );
    const ids = pages.flat();
    if (ids.length === 0) return 0;
    await rows.updateMany(
      { _id: { $in: ids }, due_at: { $ne: null } },
      { $set: { status: "dead", error, due_at: null } },
    );
    return ids.length;
  },

  /** Removes a page of an endpoint's deliveries; how many there were. */
  removePage: async (endpointId: string): Promise<number> => {
    const ids = await findIds(rows, { endpoint_id: endpointId }, { hint: "list_status", limit: endedRows });
    if (ids.length > 0) await rows.deleteMany({ _id: { $in: ids } });
    return ids.length;
  },
});

/** Short enough that other endpoints' reads and writes come between. */
const endedRows = 500;

type Due = { status: "pending" | "failed"; now: Date; limit: number };

const waitingStatuses = ["pending", "failed"] as const;

/** Deliveries of an endpoint that are due by an instant; the partial index is used for a two-sided range only. */
const waiting = (endpointId: string, status: Due["status"], by: Date) => ({
  share: shareOf(endpointId),
  endpoint_id: endpointId,
  status,
  due_at: { $gt: longAgo, $lte: by },
});
