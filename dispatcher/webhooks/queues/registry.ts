import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { EndpointQueueDeps } from "../queue/deps.ts";
import { EndpointQueue } from "../queue/endpoint-queue.ts";
import { readMemory } from "../queue/read-memory.ts";

export type QueueRegistryDeps = Omit<EndpointQueueDeps, "memory"> & {
  endpoints: Pick<WebhookWork, "own">;
  deliveries: Pick<Deliveries, "removePage">;
};

/** The queues of the endpoints that this process owns: one is opened when there is something for it. */
export type QueueRegistry = {
  /** The queue of an endpoint, opened if need be; null when this process may not serve it, it is gone, or too many are open. */
  queueOf: (endpointId: string) => Promise<EndpointQueue | null>;
  /** Something is due for an endpoint at an instant, ms: its queue looks then. */
  expect: (endpointId: string, dueMs: number) => void;
  get: (endpointId: string) => EndpointQueue | undefined;
  all: () => EndpointQueue[];
  /** Ends the queues of a share; resolves when all have ended. */
  release: (share: number) => Promise<void>;
  /** To be called every 100 ms or so. */
  tick: () => void;
};

const mostQueues = 1_000;
/** When all places are taken and others wait, a queue that has been open for so long leaves the rest of its work for later. */
const turnMs = 20_000;
/** Endpoints whose next delivery is known to be due; beyond that they are found when their share is walked. */
const mostExpected = 100_000;
const retryMs = 1_000;

export const queueRegistry = (deps: QueueRegistryDeps): QueueRegistry => {
  const opening = new Map<string, Promise<EndpointQueue | null>>();
  const open = new Map<string, EndpointQueue>(); // the oldest first
  const openedMs = new WeakMap<EndpointQueue, number>();
  const dueMs = new Map<string, number>();
  const memory = readMemory();
  const nowMs = (): number => deps.clock.now().getTime();
  const isFull = (): boolean => open.size + opening.size >= mostQueues;

  const expect = (id: string, atMs: number): void => {
    const queue = open.get(id);
    if (queue !== undefined && atMs <= nowMs()) return queue.nudge();
    const isKnown = dueMs.has(id) || dueMs.size < mostExpected;
    if (isKnown && Number.isFinite(atMs)) dueMs.set(id, Math.min(dueMs.get(id) ?? atMs, atMs));
  };
  const onEnd = (id: string, queue: EndpointQueue): void => {
    open.delete(id);
    expect(id, queue.dueMs);
  };
  const begin = async (id: string): Promise<EndpointQueue | null> => {
    const { endpoints, deliveries, shares } = deps;
    const fence = shares.fenceOf(id);
    if (fence === null) return null;
    const found = await endpoints.find(id);
    const row = found?.fence === fence ? found : await endpoints.own(id, fence);
    if (found === null && (await deliveries.removePage(id)) > 0) expect(id, nowMs()); // its endpoint was deleted
    if (row === null || shares.fenceOf(id) !== fence) return null;
    const queue: EndpointQueue = new EndpointQueue({ ...deps, memory }, row, () => onEnd(id, queue));
    open.set(id, queue);
    openedMs.set(queue, nowMs());
    await queue.start();
    return queue;
  };
  const queueOf = (id: string): Promise<EndpointQueue | null> => {
    const known = opening.get(id) ?? open.get(id);
    if (known !== undefined) return Promise.resolve(known);
    if (isFull() || deps.shares.fenceOf(id) === null) return Promise.resolve(null);
    dueMs.delete(id);
    const queue = begin(id).finally(() => opening.delete(id));
    opening.set(id, queue);
    return queue;
  };
  const openDue = (): void => {
    for (const [id, atMs] of dueMs) {
      if (atMs > nowMs()) continue;
      if (isFull()) return endOldest();
      dueMs.delete(id);
      queueOf(id).catch(() => expect(id, nowMs() + retryMs)); // the store is away
    }
  };
  const endOldest = (): void => {
    for (const queue of open.values()) if ((openedMs.get(queue) ?? 0) <= nowMs() - turnMs) queue.release();
  };
  const ofShare = <T>(queues: ReadonlyMap<string, T>, share: number): T[] =>
    [...queues].flatMap(([id, queue]) => (shareOf(id) === share ? [queue] : []));

  return {
    queueOf,
    expect,
    get: (id) => open.get(id),
    all: () => [...open.values()],
    release: async (share) => {
      for (const id of dueMs.keys()) if (shareOf(id) === share) dueMs.delete(id);
      await Promise.allSettled(ofShare(opening, share)); // no others are begun
      const queues = ofShare(open, share);
      for (const queue of queues) queue.release();
      await Promise.all(queues.map((queue) => queue.ended));
    },
    tick: () => {
      for (const queue of open.values()) queue.tick();
      openDue();
    },
  };
};
