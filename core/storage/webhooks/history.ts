import type { Collection, Db, Filter } from "mongodb";
import { shareOf } from "../../domain/webhooks/shares.ts";
import { collectionOf, type OfApp } from "../mongo/collection.ts";
import { anyText } from "../mongo/page-range.ts";
import { type AttemptRow, type WebhookDeliveryRow, webhookDeliveryCollection } from "./deliveries.ts";

export type DeliveryStatus = WebhookDeliveryRow["status"];

/** What deliveries of an endpoint may be narrowed by; null = anything. */
export type HistoryFilter = { status: DeliveryStatus | null; eventType: string | null };
/** The same for a read that walks one index. */
export type OneStatus = HistoryFilter & { status: DeliveryStatus };

/** Ids lie between `above` and `below`, both exclusive. */
export type HistoryRange = { above: string; below: string };

export type HistoryPage = HistoryRange & { isDescending: boolean; limit: number };

/** A delivery as lists show it: without what it says, and with its last attempt only. */
export type ListedDelivery = Omit<WebhookDeliveryRow, "payload" | "people" | "attempts"> & { attempts: AttemptRow[] };

/** Every id: a range without which the planner may sort. */
export const anyDelivery: HistoryRange = { above: anyText.$gt, below: anyText.$lt };

export type WebhookHistory = ReturnType<typeof webhookHistory>;

/** What was sent to endpoints, as the REST interface reads it. */
export const webhookHistory = (db: Db) => {
  const rows = collectionOf<WebhookDeliveryRow>(db, webhookDeliveryCollection);
  const read = historyReader(rows);
  return {
    /** One page of a list. The indexes are kept by status: without one, each status is read, and merged. */
    list: async (endpointId: string, filter: HistoryFilter, page: HistoryPage): Promise<ListedDelivery[]> => {
      const pages: ListedDelivery[][] = [];
      for (const one of filtersOf(filter)) pages.push(await read<ListedDelivery>(endpointId, one, page, listed));
      return merged(pages, page);
    },

    find: ({ tenantId, appId }: OfApp, id: string): Promise<WebhookDeliveryRow | null> =>
      rows.findOne({ _id: id, app_id: appId, tenant_id: tenantId }),

    insert: async (row: WebhookDeliveryRow): Promise<void> => void (await rows.insertOne(row)),
  };
};

/** Reads deliveries of an endpoint in the order of their ids, which is that of events: each read walks one index. */
export const historyReader =
  (rows: Collection<WebhookDeliveryRow>) =>
  <Row extends object>(
    endpointId: string,
    filter: OneStatus,
    { above, below, isDescending, limit }: HistoryPage,
    projection: object,
  ): Promise<Row[]> => {
    const { where, index } = conditionsOf(filter);
    return rows
      .find<Row>(
        { endpoint_id: endpointId, ...where, _id: { $gt: above, $lt: below } },
        { projection, hint: index, batchSize: limit },
      )
      .sort({ _id: isDescending ? -1 : 1 })
      .limit(limit)
      .toArray();
  };

/** A new delivery of the same event to the same endpoint, due now. */
export const replayOf = (row: WebhookDeliveryRow, id: string, now: Date): WebhookDeliveryRow => ({
  ...row,
  _id: id,
  share: shareOf(row.endpoint_id),
  status: "pending",
  attempt: 0,
  attempts: [],
  error: null,
  due_at: now,
  delivered_at: null,
  replay_of: row._id,
  created_at: now,
});

const listed = { payload: 0, people: 0, attempts: { $slice: -1 } };

/** In the order in which deliveries move: read one after the other, none of them slips through between two reads. */
const statuses = ["pending", "failed", "dead", "success"] as const satisfies readonly DeliveryStatus[];

const filtersOf = ({ status, eventType }: HistoryFilter): OneStatus[] =>
  (status === null ? statuses : [status]).map((one) => ({ status: one, eventType }));

const conditionsOf = ({ status, eventType }: OneStatus): { where: Filter<WebhookDeliveryRow>; index: string } =>
  eventType === null
    ? { where: { status }, index: "list_status" }
    : { where: { event_type: eventType, status }, index: "list_type" };

/** What was read twice, as it moved meanwhile, counts as it was read last. */
const merged = (pages: readonly ListedDelivery[][], { isDescending, limit }: HistoryPage): ListedDelivery[] => {
  const sign = isDescending ? -1 : 1;
  const latest = new Map(pages.flat().map((row) => [row._id, row]));
  return [...latest.values()].sort((a, b) => (a._id < b._id ? -sign : sign)).slice(0, limit);
};
