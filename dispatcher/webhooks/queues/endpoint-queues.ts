import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { HealthNotes } from "../health/notes.ts";
import type { Deliveries } from "../history/deliveries.ts";
import type { EndpointKey, Endpoints } from "../partitions/endpoints.ts";
import { EndpointQueue } from "../queue/endpoint-queue.ts";
import type { EndpointQueueDeps } from "../queue/endpoint-queue-deps.ts";
import { probes } from "../queue/probes.ts";
import { readMemory } from "../queue/read-memory.ts";
import { type Place, type PlacingDeps, placing } from "./placing.ts";

export type EndpointQueuesDeps = Omit<EndpointQueueDeps, "memory" | "probes"> &
  PlacingDeps & {
    endpoints: Pick<WebhookWork, "own"> & Pick<Endpoints, "onNotice" | "keyOfId">;
    deliveries: Pick<Deliveries, "removePage">;
    notes: Pick<HealthNotes, "flush">;
  };

const tickMs = 100;
const mostQueues = 1_000;
/** When all places are taken and others wait, a queue that has been open for so long leaves the rest of its work for later. */
const turnMs = 20_000;
/** Endpoints of which it is known when something is due; beyond that they are found by the next walk. */
const mostExpected = 100_000;
const retryMs = 1_000;
const ignored = (): void => undefined; // the store is away: the next walk finds it

/** The queues of the endpoints that this process owns: one is opened when there is something for it. */
export class EndpointQueues implements Part {
  readonly name = "webhook endpoint queues";
  readonly place: Place;
  readonly #deps: EndpointQueuesDeps & EndpointQueueDeps;
  readonly #opening = new Map<string, { partition: number; queue: Promise<EndpointQueue | null> }>();
  readonly #open = new Map<string, EndpointQueue>(); // the oldest first
  /** When something is due for endpoints without a queue, ms. */
  readonly #dueMs = new Map<string, { key: EndpointKey; atMs: number }>();
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #endNotices: (() => void) | undefined;

  constructor(deps: EndpointQueuesDeps) {
    this.#deps = { ...deps, memory: readMemory(), probes: probes() };
    this.place = placing(deps, this);
  }

  async start(): Promise<void> {
    this.#endNotices = await this.#deps.endpoints.onNotice((key) => this.expect(key));
    this.#timer = setInterval(() => this.#tick(), tickMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#endNotices?.();
  }

  /** Endpoints for which this process has something to do. */
  get size(): number {
    return this.#open.size;
  }

  /** Requests that have begun and not ended. */
  get underWay(): number {
    return this.#all().reduce((sum, queue) => sum + queue.underWay, 0);
  }

  /** The queue of an endpoint, opened if need be; null when this process may not serve it, it is gone, or too many are open. */
  async queueOf(key: EndpointKey): Promise<EndpointQueue | null> {
    const { id, partition } = key;
    const known = this.#opening.get(id)?.queue ?? this.#open.get(id);
    if (known !== undefined) return known;
    if (this.#isFull() || this.#deps.partitions.fenceOf(partition) === null) return null;
    this.#dueMs.delete(id);
    const queue = this.#begin(key).finally(() => this.#opening.delete(id));
    this.#opening.set(id, { partition, queue });
    return queue;
  }

  /** The queue of an endpoint when there is one. */
  get(id: string): EndpointQueue | undefined {
    return this.#open.get(id);
  }

  /** Something is due for an endpoint at an instant, ms, now when left out: its queue looks then, if this process owns it. */
  expect(key: EndpointKey, atMs = 0): void {
    if (!this.#deps.partitions.isOwned(key.partition)) return;
    const queue = this.#open.get(key.id);
    if (queue !== undefined && atMs <= this.#nowMs()) return queue.nudge();
    this.#remember(key, atMs);
  }

  /** An endpoint, or what waits for it, has changed; `*` is any. */
  refresh(id: string): void {
    if (id === "*") for (const queue of this.#all()) queue.refresh();
    else if (this.#open.has(id)) this.#open.get(id)?.refresh();
    else if (this.#opening.has(id)) void this.#refreshOpened(id);
    else void this.#deps.endpoints.keyOfId(id).then((key) => this.expect(key), ignored);
  }

  /** Ends the queues of a partition, for which nothing new is begun; resolves when nothing is under way or in memory. */
  async drain(partition: number): Promise<void> {
    const opening = [...this.#opening.values()].filter((one) => one.partition === partition);
    await Promise.allSettled(opening.map(({ queue }) => queue));
    const queues = this.#ofPartition(partition);
    for (const queue of queues) queue.release();
    await Promise.all(queues.map((queue) => queue.ended));
    await this.#deps.notes.flush().catch(() => undefined); // the store is away: nothing can be given up either
  }

  /** Another process has taken a partition. */
  lose(partition: number): void {
    for (const queue of this.#ofPartition(partition)) queue.lose();
  }

  #tick(): void {
    const nowMs = this.#nowMs();
    for (const queue of this.#inTurn()) queue.tick();
    for (const { key, atMs } of this.#dueMs.values()) {
      if (atMs > nowMs) continue;
      if (this.#isFull()) return this.#endOldest(nowMs - turnMs);
      this.queueOf(key).catch(() => this.#remember(key, nowMs + retryMs)); // the store is away
      this.#dueMs.delete(key.id); // also when it is not served here any more
    }
  }

  /** All queues, each time from the next one on: so each has its turn to take a place for a probe. */
  #inTurn(): EndpointQueue[] {
    const queues = this.#all();
    const first = this.#ticks++ % Math.max(1, queues.length);
    return [...queues.slice(first), ...queues.slice(0, first)];
  }

  #remember(key: EndpointKey, atMs: number): void {
    const known = this.#dueMs.get(key.id);
    if (!Number.isFinite(atMs) || (known === undefined && this.#dueMs.size >= mostExpected)) return;
    this.#dueMs.set(key.id, { key, atMs: Math.min(known?.atMs ?? atMs, atMs) });
  }

  async #begin(key: EndpointKey): Promise<EndpointQueue | null> {
    const { endpoints, deliveries, partitions } = this.#deps;
    const { id, partition } = key;
    const fence = partitions.fenceOf(partition);
    if (fence === null) return null;
    const found = await endpoints.find(id);
    const row = found?.fence === fence ? found : await endpoints.own(id, fence);
    if (found === null && (await deliveries.removePage(id)) > 0) this.expect(key); // its endpoint was deleted
    if (row === null || partitions.fenceOf(partition) !== fence) return null;
    const queue = new EndpointQueue(this.#deps, row, ({ dueMs }) => {
      this.#open.delete(id);
      this.#remember(key, dueMs);
    });
    this.#open.set(id, queue);
    await queue.run();
    return queue;
  }

  /** It may have read its row before the change. */
  async #refreshOpened(id: string): Promise<void> {
    const queue = await this.#opening.get(id)?.queue.catch(() => null); // whoever opens it gets the error
    queue?.refresh();
  }

  #endOldest(beforeMs: number): void {
    for (const queue of this.#open.values()) if (queue.openedMs <= beforeMs) queue.release();
  }

  #isFull(): boolean {
    return this.#open.size + this.#opening.size >= mostQueues;
  }

  #all(): EndpointQueue[] {
    return [...this.#open.values()];
  }

  #ofPartition(partition: number): EndpointQueue[] {
    return this.#all().filter(({ key }) => key.partition === partition);
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
