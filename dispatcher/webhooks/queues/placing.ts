import { LRUCache } from "lru-cache";
import { atMostEntries } from "#core/domain/at-most-entries.ts";
import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import type { Suspensions } from "../../work/suspensions.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { EndpointKey, Endpoints } from "../partitions/endpoints.ts";
import type { EndpointQueue } from "../queue/endpoint-queue.ts";
import type { StoringDeps } from "../queue/storing.ts";
import { type Budget, budget } from "./budget.ts";

export type PlacingDeps = {
  /** Notifies the owner of an endpoint, this process or another, that deliveries were stored for it. */
  endpoints: Pick<Endpoints, "notify" | "keyOf">;
  deliveries: Pick<Deliveries, "keep">;
  suspensions: Pick<Suspensions, "has">;
  deferred: StoringDeps["deferred"];
  /** Counts endpoints whose events are left to the store, as this process does not serve them. */
  fellBack: () => void;
};

/** How many new deliveries there are, and the characters of all their bodies. */
export type Amount = { count: number; characters: number };

/**
 * Places new deliveries of one endpoint, which are made when there is memory for them: in the endpoint's queue, when this
 * process owns it, or in the store for its owner. Resolves when all are stored. Those that are `isStoredFirst` are sent
 * only after they are stored.
 */
export type Place = (
  endpoint: WebhookRow,
  amount: Amount,
  make: () => readonly WebhookDeliveryRow[],
  how?: { isStoredFirst: boolean },
) => Promise<void>;

/**
 * Characters of new deliveries in memory, over all endpoint queues, which tenants share. JetStream keeps their events until
 * they are stored. Small ones count as `least`, for what they have beside their bodies: so a tenant alone has 600.
 */
const unstored = { most: 1_200 * 32_768, least: 32_768 };
/** Callers that wait for room in an endpoint queue, over all queues: callers for other endpoints must not wait behind them. */
const mostWaiting = 48;
/** So many stored deliveries are remembered, as their events may be published twice. */
const mostRemembered = 20_000;

/** The queues that this process has. */
type Queues = {
  queueOf: (endpoint: EndpointKey) => Promise<EndpointQueue | null>;
  get: (endpointId: string) => EndpointQueue | undefined;
};

export const placing = (deps: PlacingDeps, queues: Queues): Place => {
  const memory = budget(unstored.most);
  const stored = new LRUCache<string, true>(atMostEntries(mostRemembered));
  let waiting = 0;

  const keepAll = async (rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    await Promise.all(rows.map(deps.deliveries.keep));
    for (const { _id } of rows) stored.set(_id, true);
  };
  const notify = (key: EndpointKey): void => {
    const queue = queues.get(key.id);
    if (queue === undefined) deps.endpoints.notify(key);
    else queue.nudge();
  };
  /** Leaves deliveries that find no room to the store, from where they are sent later. */
  const leave = async (key: EndpointKey, rows: readonly WebhookDeliveryRow[]): Promise<void> => {
    if (rows.length === 0) return;
    deps.deferred("full", rows.length);
    await keepAll(rows);
    notify(key);
  };
  const whenRoom = (queue: EndpointQueue | null, count: number): Promise<void> | null => {
    const room = queue === null || waiting >= mostWaiting ? null : queue.whenRoom(count);
    if (room !== null) waiting++;
    return room?.finally(() => waiting--) ?? null;
  };
  const place = async (
    key: EndpointKey,
    queue: EndpointQueue | null,
    { rows, free, isStoredFirst }: New,
  ): Promise<void> => {
    const { there = [], others = [] } = Object.groupBy(rows, ({ _id }) => (queue?.has(_id) ? "there" : "others"));
    const most = Math.max(0, queue?.free() ?? 0);
    const taken = [...there, ...others.slice(0, most)].map(async (row) => {
      await queue?.accept(row, isStoredFirst);
      stored.set(row._id, true);
      free(1);
    });
    const left = others.slice(most);
    await Promise.all([...taken, leave(key, left).then(() => free(left.length))]);
  };

  return async (endpoint, amount, make, { isStoredFirst } = { isStoredFirst: false }) => {
    const { count } = amount;
    const key = deps.endpoints.keyOf(endpoint);
    const isDisabled = endpoint.status === "disabled";
    const { free, freeAll } = await entered(memory, endpoint.tenant_id, amount);
    try {
      const queue = await queueFor(deps, queues, endpoint);
      const room = whenRoom(queue, count);
      if (room !== null) await room; // else nothing is awaited: the room that there is must not be given to others
      const rows = make().filter(({ _id }) => !stored.has(_id));
      await (isDisabled ? keepAll(rows.map(missed)) : place(key, queue, { rows, free, isStoredFirst }));
      // whoever stored the others may have been killed before it notified anybody
      if (rows.length < count && !isDisabled) notify(key);
    } finally {
      freeAll();
    }
  };
};

/** Null when nothing is to be sent, or this process may not. */
const queueFor = async (deps: PlacingDeps, queues: Queues, endpoint: WebhookRow): Promise<EndpointQueue | null> => {
  if (endpoint.paused || endpoint.status === "disabled" || deps.suspensions.has(endpoint.tenant_id)) return null;
  const queue = await queues.queueOf(deps.endpoints.keyOf(endpoint));
  if (queue === null) deps.fellBack();
  return queue;
};

/** New deliveries; `free` gives the room of so many back once they are stored. */
type New = { rows: readonly WebhookDeliveryRow[]; free: (count: number) => void; isStoredFirst: boolean };

/** Waits for memory, which is given back in parts. */
const entered = async (memory: Budget, tenantId: string, { count, characters }: Amount) => {
  const each = Math.max(unstored.least, Math.ceil(characters / Math.max(1, count)));
  await memory.enter(tenantId, each * count);
  let left = count;
  const free = (some: number): void => {
    left -= some;
    memory.leave(tenantId, each * some);
  };
  return { free, freeAll: () => free(left) };
};

/** What a disabled endpoint misses is stored like this: `recover` finds it there. */
const missed = (row: WebhookDeliveryRow): WebhookDeliveryRow => ({
  ...row,
  status: "dead",
  error: "endpoint disabled",
  due_at: null,
});
