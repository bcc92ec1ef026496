import type { Db } from "mongodb";
import { derivedIdAt } from "#core/domain/ids.ts";
import { shareOf } from "#core/domain/webhooks/shares.ts";
import { mapBounded } from "#core/runtime/batching/bounded.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { addEndpoint } from "../../support/webhooks/traffic.ts";
import type { Round } from "../servers.ts";
import { onWebhookBench, type WebhookBench } from "./system.ts";

/** 95th percentile of some pages of the list, by filter. */
export type ListResult = { filter: string; p95Ms: number; rows: number }[];

/** `deliveries` of one endpoint, and how many `pages` of them are read with each filter. */
export type History = { deliveries: number; pages: number };

/** Reads the history of one endpoint: page after page, with every filter. */
export const listOfDeliveries = (round: Round, { deliveries, pages }: History): Promise<ListResult> =>
  onWebhookBench(
    round,
    async ({ system, sink }) => {
      const endpoint = await addEndpoint(system, { url: `${sink.url}/1`, names: ["listed"], status: "disabled" });
      await seedHistory(system.db, endpoint, deliveries);
      return endpoint;
    },
    async (bench, endpoint) => {
      const results: ListResult = [];
      for (const filter of filters) results.push(await readPages(bench, { endpoint, filter, pages }));
      return results;
    },
  );

const filters = [
  "",
  "status=success",
  "status=failed",
  "status=dead",
  "status=pending",
  "event_type=event.received",
  "event_type=user.deleted",
  "event_type=journey.exited",
  "status=dead&event_type=user.deleted",
  "status=success&event_type=user.deleted",
  "status=dead&event_type=event.received",
  "limit=200",
  "status=failed&limit=200",
];

type Page = { data: unknown[]; next_cursor: string | null };

type Reading = { endpoint: WebhookRow; filter: string; pages: number };

const readPages = async (
  { system, apiserver }: WebhookBench,
  { endpoint, filter, pages }: Reading,
): Promise<ListResult[number]> => {
  const list = `${apiserver.url}/v1/apps/${system.app._id}/webhooks/${endpoint._id}/deliveries?${filter}`;
  const tookMs: number[] = [];
  let [cursor, rows] = [null as string | null, 0];
  for (let n = 0; n < pages; n++) {
    const url = cursor === null ? list : `${list}&cursor=${encodeURIComponent(cursor)}`;
    const startedMs = performance.now();
    const reply = await fetch(url, { headers: { authorization: `Bearer ${system.token}` } });
    const text = await reply.text();
    tookMs.push(performance.now() - startedMs);
    if (reply.status !== 200) throw new Error(`${reply.status}: ${text}`);
    const { data, next_cursor: next } = JSON.parse(text) as Page; // the reply of a list
    cursor = next;
    rows += data.length;
  }
  const p95Ms = tookMs.toSorted((a, b) => a - b)[Math.floor(pages * 0.95)] ?? Number.NaN;
  return { filter: filter || "no filter", p95Ms, rows };
};

const seedBatch = 1_000;
const spanMs = 20 * 86_400_000;

const seedHistory = async (db: Db, endpoint: WebhookRow, count: number): Promise<void> => {
  const rows = db.collection<WebhookDeliveryRow>("webhook_deliveries");
  const firstAtMs = Date.now() - spanMs;
  const batches = Array.from({ length: Math.ceil(count / seedBatch) }, (_, n) => n * seedBatch);
  await mapBounded(batches, 4, (first) =>
    rows.insertMany(
      Array.from({ length: Math.min(seedBatch, count - first) }, (_, i) => {
        const at = new Date(firstAtMs + ((first + i) / count) * spanMs);
        return aDelivery(endpoint, first + i, at);
      }),
      { ordered: false },
    ),
  );
};

/** Of a thousand: 940 arrived, 30 wait for their next request, 20 are dead, 10 were never tried; a few are of rare kinds. */
const aDelivery = (endpoint: WebhookRow, n: number, at: Date): WebhookDeliveryRow => {
  const status = statusOf(n % 1000);
  const eventId = derivedIdAt("event", at, String(n));
  const attempt = status === "pending" ? 0 : status === "dead" ? 7 : 1;
  const type = typeOf(n);
  return {
    _id: derivedIdAt("webhookDelivery", at, endpoint._id, eventId),
    tenant_id: endpoint.tenant_id,
    app_id: endpoint.app_id,
    endpoint_id: endpoint._id,
    share: shareOf(endpoint._id),
    event_id: eventId,
    event_type: type,
    subject_id: null,
    payload: JSON.stringify({ id: eventId, type, timestamp: at.toISOString(), data: { n } }),
    people: [`external_id:user-${n % 1000}`],
    status,
    attempt,
    attempts: [],
    error: null,
    due_at: status === "pending" || status === "failed" ? new Date(Date.now() + 3_600_000) : null,
    delivered_at: status === "success" ? at : null,
    replay_of: null,
    created_at: at,
  };
};

const statusOf = (n: number): WebhookDeliveryRow["status"] => {
  if (n < 940) return "success";
  if (n < 970) return "failed";
  return n < 990 ? "dead" : "pending";
};

/** A tenth are of another kind; one in 50,000 is rare. */
const typeOf = (n: number): string => {
  if (n % 50_021 === 0) return "user.deleted";
  return n % 10 === 3 ? "delivery.sent" : "event.received";
};
