import { shareOf } from "#core/domain/webhooks/shares.ts";
import type { Part } from "#core/runtime/process/lifecycle.ts";
import type { WebhookWork } from "#core/storage/webhooks/webhooks.ts";
import type { HealthNotes } from "../health/notes.ts";
import type { Deliveries } from "../history/deliveries.ts";
import { EndpointQueue } from "../queue/endpoint-queue.ts";
import type { EndpointQueueDeps } from "../queue/endpoint-queue-deps.ts";
import { readMemory } from "../queue/read-memory.ts";
import type { Endpoints } from "../shares/endpoints.ts";
import { type Place, type PlacingDeps, placing } from "./placing.ts";

export type EndpointQueuesDeps = Omit<EndpointQueueDeps, "memory"> &
  PlacingDeps & {
    endpoints: Pick<WebhookWork, "own"> & Pick<Endpoints, "onNotice">;
    deliveries: Pick<Deliveries, "removePage">;
    notes: Pick<HealthNotes, "flush">;
  };

const tickMs = 100;
const mostQueues = 1_000;
/** When all places are taken and others wait, a queue that has been open for so long leaves the rest of its work for later. */
const turnMs = 20_000;
/** Endpoints of which it is known when something is due; beyond that they are found when their share is walked. */
const mostExpected = 100_000;
const retryMs = 1_000;

/** The queues of the endpoints that this process owns: one is opened when there is something for it. */
export class EndpointQueues implements Part {
  readonly name = "webhook endpoint queues";
  readonly place: Place;
  readonly #deps: EndpointQueuesDeps & EndpointQueueDeps;
  readonly #opening = new Map<string, Promise<EndpointQueue | null>>();
  readonly #open = new Map<string, EndpointQueue>(); // the oldest first
  /** When something is due for endpoints without a queue, ms. */
  readonly #dueMs = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #endNotices: (() => void) | undefined;

  constructor(deps: EndpointQueuesDeps) {
    this.#deps = { ...deps, memory: readMemory() };
    this.place = placing(deps, this);
  }

  async start(): Promise<void> {
    this.#endNotices = await this.#deps.endpoints.onNotice((id) => this.expect(id));
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
  async queueOf(id: string): Promise<EndpointQueue | null> {
    const known = this.#opening.get(id) ?? this.#open.get(id);
    if (known !== undefined) return known;
    if (this.#isFull() || this.#deps.shares.fenceOf(id) === null) return null;
    this.#dueMs.delete(id);
    const queue = this.#begin(id).finally(() => this.#opening.delete(id));
    this.#opening.set(id, queue);
    return queue;
  }

  /** The queue of an endpoint when there is one. */
  get(id: string): EndpointQueue | undefined {
    return this.#open.get(id);
  }

  /** Something is due for an endpoint at an instant, ms, now when left out: its queue looks then, if this process owns it. */
  expect(id: string, atMs = 0): void {
    if (!this.#deps.shares.isOwned(shareOf(id))) return;
    const queue = this.#open.get(id);
    if (queue !== undefined && atMs <= this.#nowMs()) return queue.nudge();
    this.#remember(id, atMs);
  }

  /** An endpoint, or what waits for it, has changed; `*` is any. */
  refresh(id: string): void {
    if (id === "*") for (const queue of this.#all()) queue.refresh();
    else if (this.#open.has(id)) this.#open.get(id)?.refresh();
    else if (this.#opening.has(id)) void this.#refreshOpened(id);
    else this.expect(id);
  }

  /** Ends the queues of a share, for which nothing new is begun; resolves when nothing is under way or in memory. */
  async drain(share: number): Promise<void> {
    await Promise.allSettled([...this.#opening].flatMap(([id, queue]) => (shareOf(id) === share ? [queue] : [])));
    const queues = this.#ofShare(share);
    for (const queue of queues) queue.release();
    await Promise.all(queues.map((queue) => queue.ended));
    await this.#deps.notes.flush().catch(() => undefined); // the store is away: nothing can be given up either
  }

  /** Another process has taken a share. */
  lose(share: number): void {
    for (const queue of this.#ofShare(share)) queue.lose();
  }

  #tick(): void {
    const nowMs = this.#nowMs();
    for (const queue of this.#open.values()) queue.tick();
    for (const [id, atMs] of this.#dueMs) {
      if (atMs > nowMs) continue;
      if (this.#isFull()) return this.#endOldest(nowMs - turnMs);
      this.queueOf(id).catch(() => this.#remember(id, nowMs + retryMs)); // the store is away
      this.#dueMs.delete(id); // also when it is not served here any more
    }
  }

  #remember(id: string, atMs: number): void {
    const isKnown = this.#dueMs.has(id) || this.#dueMs.size < mostExpected;
    if (isKnown && Number.isFinite(atMs)) this.#dueMs.set(id, Math.min(this.#dueMs.get(id) ?? atMs, atMs));
  }

  async #begin(id: string): Promise<EndpointQueue | null> {
    const { endpoints, deliveries, shares } = this.#deps;
    const fence = shares.fenceOf(id);
    if (fence === null) return null;
    const found = await endpoints.find(id);
    const row = found?.fence === fence ? found : await endpoints.own(id, fence);
    if (found === null && (await deliveries.removePage(id)) > 0) this.expect(id); // its endpoint was deleted
    if (row === null || shares.fenceOf(id) !== fence) return null;
    const queue = new EndpointQueue(this.#deps, row, ({ dueMs }) => {
      this.#open.delete(id);
      this.#remember(id, dueMs);
    });
    this.#open.set(id, queue);
    await queue.run();
    return queue;
  }

  /** It may have read its row before the change. */
  async #refreshOpened(id: string): Promise<void> {
    const queue = await this.#opening.get(id)?.catch(() => null); // whoever opens it gets the error
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

  #ofShare(share: number): EndpointQueue[] {
    return this.#all().filter(({ endpointId: id }) => shareOf(id) === share);
  }

  #nowMs(): number {
    return this.#deps.clock.now().getTime();
  }
}
