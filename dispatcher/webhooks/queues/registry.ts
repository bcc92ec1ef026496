import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { Deliveries } from "../history/deliveries.ts";
import { EndpointQueue, type EndpointQueueDeps } from "../queue/endpoint-queue.ts";
import { readMemory } from "../queue/read-memory.ts";

export type QueueRegistryDeps = Omit<EndpointQueueDeps, "memory"> & {
  endpoints: Pick<WebhookWork, "own">;
  deliveries: Pick<Deliveries, "removePage">;
};

const mostQueues = 1_000;
/** When all places are taken and others wait, a queue that has been open for so long leaves the rest of its work for later. */
const turnMs = 20_000;
/** Endpoints of which it is known when something is due; beyond that they are found when their share is walked. */
const mostExpected = 100_000;
const retryMs = 1_000;

/** The queues of the endpoints that this process owns: one is opened when there is something for it. */
export class QueueRegistry {
  readonly #deps: EndpointQueueDeps & QueueRegistryDeps;
  readonly #opening = new Map<string, Promise<EndpointQueue | null>>();
  readonly #open = new Map<string, EndpointQueue>(); // the oldest first
  /** When something is due for endpoints without a queue, ms. */
  readonly #dueMs = new Map<string, number>();

  constructor(deps: QueueRegistryDeps) {
    this.#deps = { ...deps, memory: readMemory() };
  }

  /** The queue of an endpoint, opened if need be; null when this process may not serve it, it is gone, or too many are open. */
  async queueOf(id: string): Promise<EndpointQueue | null> {
    const known = this.#opening.get(id) ?? this.#open.get(id);
    if (known !== undefined) return known;
    if (this.#isFull() || this.#deps.shares.fenceOf(id) === null) return null;
    this.#dueMs.delete(id);
    const queue = this.#begin(id).finally(() => this.#opening.delete(id));
    this.#opening.set(id, queue);
    return queue;
  }

  get(id: string): EndpointQueue | undefined {
    return this.#open.get(id);
  }

  all(): EndpointQueue[] {
    return [...this.#open.values()];
  }

  /** Something is due for an endpoint at an instant, ms: its queue looks then. */
  expect(id: string, atMs: number): void {
    const queue = this.#open.get(id);
    if (queue !== undefined && atMs <= this.#nowMs()) return queue.nudge();
    const isKnown = this.#dueMs.has(id) || this.#dueMs.size < mostExpected;
    if (isKnown && Number.isFinite(atMs)) this.#dueMs.set(id, Math.min(this.#dueMs.get(id) ?? atMs, atMs));
  }

  /** Ends the queues of a share, for which nothing new is begun; resolves when all have ended. */
  async release(share: number): Promise<void> {
    for (const id of this.#dueMs.keys()) if (shareOf(id) === share) this.#dueMs.delete(id);
    await Promise.allSettled([...this.#opening].flatMap(([id, queue]) => (shareOf(id) === share ? [queue] : [])));
    const queues = this.all().filter(({ endpointId: id }) => shareOf(id) === share);
    for (const queue of queues) queue.release();
    await Promise.all(queues.map((queue) => queue.ended));
  }

  /** To be called every 100 ms or so. */
  tick(): void {
    const nowMs = this.#nowMs();
    for (const queue of this.#open.values()) queue.tick();
    for (const [id, atMs] of this.#dueMs) {
      if (atMs > nowMs) continue;
      if (this.#isFull()) return this.#endOldest(nowMs - turnMs);
      this.queueOf(id).catch(() => this.expect(id, nowMs + retryMs)); // the store is away
      this.#dueMs.delete(id); // also when it is not served here any more
    }
  }

  async #begin(id: string): Promise<EndpointQueue | null> {
    const { endpoints, deliveries, shares } = this.#deps;
    const fence = shares.fenceOf(id);
    if (fence === null) return null;
    const found = await endpoints.find(id);
    const row = found?.fence === fence ? found : await endpoints.own(id, fence);
    if (found === null && (await deliveries.removePage(id)) > 0) this.expect(id, this.#nowMs()); // its endpoint was deleted
    if (row === null || shares.fenceOf(id) !== fence) return null;
    const queue = new EndpointQueue(this.#deps, row, ({ dueMs }) => {
      this.#open.delete(id);
      this.expect(id, dueMs);
    });
    this.#open.set(id, queue);
    await queue.run();
    return queue;
  }

  #endOldest(beforeMs: number): void {
    for (const queue of this.#open.values()) if (queue.openedMs <= beforeMs) queue.release();
  }

  #isFull(): boolean {
    return this.#open.size + this.#opening.size >= mostQueues;
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
