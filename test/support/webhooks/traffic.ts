import { setTimeout as sleep } from "node:timers/promises";
import { newId } from "#core/domain/ids.ts";
import { keyRing } from "#core/runtime/process/key-ring.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { testKeyRing } from "../rows/fixtures.ts";
import { aWebhook } from "../rows/webhooks.ts";
import type { System } from "../system/system.ts";

/** A custom event as a caller posts it; `n` is its number in its test, here and where it arrives. */
export type PostedEvent = {
  id?: string | undefined;
  name: string;
  external_id: string;
  properties: { bench_n: number };
};

/** What every program needs so that endpoints on loopback may be sent to. */
export const loopbackAllowed = { HERALD_ALLOWED_RANGES: "127.0.0.0/8" };

/** The secret of {@link addEndpoint}'s endpoints. */
export const endpointSecret = `whsec_${Buffer.alloc(32, 5).toString("base64")}`;

/** Stores an endpoint of the installation's app that wants the custom events of some names. */
export const addEndpoint = async (
  { db, app, tenantId }: System,
  { url, names, ...over }: Partial<WebhookRow> & { url: string; names: string[] },
): Promise<WebhookRow> => {
  const id = newId("webhook", new Date());
  const row = aWebhook({
    _id: id,
    tenant_id: tenantId,
    app_id: app._id,
    url,
    secret: keyRing(testKeyRing).seal(endpointSecret, `webhooks/${id}/secret`),
    events: ["event.received"],
    event_names: names,
    ...over,
  });
  await db.collection<WebhookRow>("webhooks").insertOne(row);
  return row;
};

/** The n-th event of a test: of one of a thousand users, with an id of the caller's own. */
export const anEvent = (name: string, n: number): PostedEvent => ({
  id: `${name}-${n}`,
  name,
  external_id: `user-${n % 1000}`,
  properties: { bench_n: n },
});

/** Has events accepted; throws on any other answer. */
export const postEvents = async (
  system: System,
  api: { url: string },
  events: readonly PostedEvent[],
): Promise<void> => {
  const reply = await fetch(eventsUrl(system, api), {
    method: "POST",
    headers: { authorization: `Bearer ${system.token}`, "content-type": "application/json" },
    body: JSON.stringify({ events }),
  });
  const text = await reply.text();
  if (reply.status !== 202) throw new Error(`${reply.status}: ${text}`);
};

export const eventsUrl = ({ app }: System, api: { url: string }): string => `${api.url}/v1/apps/${app._id}/events`;

export type DeliveryCounts = Partial<Record<WebhookDeliveryRow["status"], number>>;

/** How many deliveries of some endpoints there are, by status. */
export const deliveryCounts = async ({ db }: System, endpointIds: readonly string[]): Promise<DeliveryCounts> => {
  const groups = await db
    .collection<WebhookDeliveryRow>("webhook_deliveries")
    .aggregate<{ _id: WebhookDeliveryRow["status"]; n: number }>([
      { $match: { endpoint_id: { $in: [...endpointIds] } } },
      { $group: { _id: "$status", n: { $sum: 1 } } },
    ])
    .toArray();
  return Object.fromEntries(groups.map(({ _id, n }) => [_id, n]));
};

/** Waits until what is stored of some endpoints' deliveries is so. @throws with the last counts when it has not become so */
export const deliveriesBecome = async (
  system: System,
  endpointIds: readonly string[],
  { are, withinMs }: { are: (counts: DeliveryCounts) => boolean; withinMs: number },
): Promise<void> => {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const askedMs = performance.now();
    const counts = await deliveryCounts(system, endpointIds);
    if (are(counts)) return;
    const tookMs = performance.now() - askedMs;
    if (performance.now() > endsAtMs)
      throw new Error(`after ${withinMs / 1000} s deliveries are ${JSON.stringify(counts)}`);
    await sleep(Math.max(100, 4 * tookMs)); // a count is work for the store
  }
};
