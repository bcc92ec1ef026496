import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { WebhookRow } from "#core/storage/webhooks/webhooks.ts";
import { allowance } from "./allowance.ts";
import { Backlog } from "./backlog.ts";
import type { EndpointQueueDeps, QueueParts } from "./deps.ts";
import { Endpoint } from "./endpoint.ts";
import { type Item, newItem, PendingDeliveries } from "./pending-deliveries.ts";
import { Sending } from "./sending.ts";
import { QueueState } from "./state.ts";
import { Storing } from "./storing.ts";
import { Upkeep } from "./upkeep.ts";
import { waitingRoom } from "./waiting-room.ts";

/**
 * The queue of an endpoint that this process owns: sends what it accepts, and what is due in the store. A new
 * delivery is stored once, with its result, unless that takes too long: then it is stored as pending, so that the caller
 * need not wait, and is sent from the store.
 */
export class EndpointQueue {
  readonly openedMs: number;
  readonly #ended = Promise.withResolvers<void>();
  readonly #parts: QueueParts;
  readonly #storing: Storing;
  readonly #sending: Sending;
  readonly #upkeep: Upkeep;
  readonly #waiting = waitingRoom({
    nowMs: () => this.#parts.nowMs(),
    room: () => this.room(),
    perSecond: () => this.#parts.allowance.perSecond(),
    isWorthWaiting: () => this.#isWorthWaiting(),
  });

  constructor(deps: EndpointQueueDeps, row: WebhookRow, onEnd: (queue: EndpointQueue) => void) {
    const nowMs = () => deps.clock.now().getTime();
    const endpoint = new Endpoint(deps, row);
    this.openedMs = nowMs();
    this.#parts = {
      deps,
      nowMs,
      endpoint,
      state: new QueueState(endpoint),
      pending: new PendingDeliveries(deps.memory),
      backlog: new Backlog(deps, row._id, nowMs()),
      allowance: allowance(endpoint, nowMs()),
    };
    this.#storing = new Storing(this.#parts);
    this.#sending = new Sending(this.#parts, this.#storing, {
      short: () => void this.#upkeep.run(),
      gone: () => this.refresh(),
    });
    this.#upkeep = new Upkeep({
      ...this.#parts,
      storing: this.#storing,
      sending: this.#sending,
      admit: () => this.#waiting.admit(),
      onEnd: () => {
        onEnd(this);
        this.#ended.resolve();
      },
    });
  }

  /** Resolves when it has ended: nothing of it is under way or in memory. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** When something is due for the endpoint after the queue has ended, ms; infinite when nothing is, as far as it knows. */
  get dueMs(): number {
    const { endpoint, backlog, nowMs } = this.#parts;
    if (endpoint.isLost || endpoint.isResting()) return Number.POSITIVE_INFINITY;
    return backlog.isBehind ? nowMs() : backlog.retryAtMs;
  }

  get endpointId(): string {
    return this.#parts.endpoint.row._id;
  }

  get underWay(): number {
    return this.#parts.pending.underWay;
  }

  /** How many new deliveries it would accept now. */
  room(): number {
    const { state, backlog, endpoint, pending, allowance } = this.#parts;
    if (!state.isServing() || !backlog.isLevel || endpoint.isRecovering()) return 0;
    return allowance.room() - pending.size;
  }

  /**
   * Waits for room for new deliveries; null when there is room, or will be none soon. To leave deliveries to the store
   * costs three times as much: a queue that is behind would never catch up with those that keep coming.
   */
  whenRoom(count: number): Promise<void> | null {
    return this.#waiting.enter(count, this.#parts.allowance.room());
  }

  /** Whether it has a delivery in memory. */
  has(id: string): boolean {
    return this.#parts.pending.get(id) !== undefined;
  }

  /**
   * Accepts a new delivery; resolves when the store has it, with its result or as pending. One that `isStoredFirst` is
   * pending in the store before it is sent.
   */
  accept(row: WebhookDeliveryRow, isStoredFirst = false): Promise<void> {
    const known = this.#parts.pending.get(row._id);
    if (known !== undefined) return known.storing ?? known.settle.promise;
    const item = newItem(row, this.#parts.nowMs());
    if (isStoredFirst) void this.#storeFirst(item);
    else this.#add(item);
    return item.settle.promise;
  }

  /** Reads what is due in the store; resolves when it is known whether there is something. */
  start(): Promise<void> {
    return this.#upkeep.run();
  }

  /** The store may have something new for it. */
  nudge(): void {
    this.#parts.backlog.lookAnew();
    void this.#upkeep.run();
  }

  /** The endpoint's configuration may have changed. */
  refresh(): void {
    this.#parts.endpoint.expire();
    this.nudge();
  }

  /** Finishes what is under way, leaves the rest to the store, and ends. */
  release(): void {
    this.#parts.state.isReleased = true;
    this.#storing.drain();
    void this.#upkeep.run();
  }

  /** Another process owns the endpoint now: begins nothing more, and ends. */
  lose(): void {
    this.#parts.endpoint.lose();
    void this.#upkeep.run();
  }

  /** To be called every 100 ms or so. */
  tick(): void {
    const { allowance, backlog, nowMs } = this.#parts;
    const now = nowMs();
    this.#storing.storeOlder(now - allowance.limitMs(now));
    backlog.tick(now);
    this.#waiting.admit();
    void this.#upkeep.run();
  }

  #add(item: Item): void {
    this.#parts.pending.add(item);
    this.#sending.begin();
  }

  async #storeFirst(item: Item): Promise<void> {
    const { pending } = this.#parts;
    pending.expect(item);
    if (await this.#storing.storePending(item)) this.#add(item);
    else pending.remove(item);
  }

  #isWorthWaiting(): boolean {
    const { state, allowance, backlog, nowMs } = this.#parts;
    return state.isServing() && allowance.isWorthWaiting(nowMs(), backlog.behindMs(nowMs()));
  }
}
