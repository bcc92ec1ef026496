import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import type { HeldWebhook } from "#core/storage/webhooks/webhooks.ts";
import { allowance } from "./allowance.ts";
import { Backlog } from "./backlog.ts";
import type { EndpointQueueDeps } from "./deps.ts";
import { EndpointLease } from "./endpoint-lease.ts";
import type { QueueParts } from "./parts.ts";
import { freshItem, type Item, PendingDeliveries } from "./pending-deliveries.ts";
import { Requests } from "./requests.ts";
import { Spill } from "./spill.ts";
import { QueueState } from "./state.ts";
import { storeWaiting } from "./store-item.ts";
import { Upkeep } from "./upkeep.ts";
import { waitingRoom } from "./waiting-room.ts";

/**
 * The queue of an endpoint whose lease this process holds: sends what it accepts, and what is due in the store. A new
 * delivery is stored once, with its result, unless that takes too long: then it is stored as pending, so that the caller
 * need not wait, and is sent from the store.
 */
export class EndpointQueue {
  readonly tenantId: string;
  readonly #parts: QueueParts;
  readonly #spill: Spill;
  readonly #requests: Requests;
  readonly #upkeep: Upkeep;
  readonly #waiting = waitingRoom({
    nowMs: () => this.#nowMs(),
    room: () => this.room(),
    perSecond: () => this.#parts.allowance.perSecond(),
    isWorthWaiting: () => this.#isWorthWaiting(),
  });

  constructor(deps: EndpointQueueDeps, held: HeldWebhook) {
    const nowMs = deps.clock.now().getTime();
    const lease = new EndpointLease(deps, held);
    this.tenantId = held.row.tenant_id;
    this.#parts = {
      deps,
      lease,
      state: new QueueState(lease),
      pending: new PendingDeliveries(deps.memory),
      backlog: new Backlog(deps, held.row._id, nowMs),
      allowance: allowance(lease, nowMs),
    };
    this.#spill = new Spill(this.#parts);
    this.#requests = new Requests(this.#parts, {
      onShort: () => void this.#upkeep.run(),
      onGone: () => this.refresh(),
    });
    this.#upkeep = new Upkeep({
      ...this.#parts,
      spill: this.#spill,
      requests: this.#requests,
      admit: () => this.#waiting.admit(),
    });
  }

  /** Resolves when it has ended, so that another may take the endpoint. */
  get closed(): Promise<void> {
    return this.#parts.state.closed.promise;
  }

  get underWay(): number {
    return this.#parts.pending.underWay;
  }

  /** How many new deliveries it would accept now. */
  room(): number {
    const { state, backlog, lease, pending, allowance } = this.#parts;
    if (!state.isServing() || !backlog.isLevel || lease.isRecovering()) return 0;
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
    const item = freshItem(row, this.#nowMs());
    if (isStoredFirst) void this.#storeFirst(item);
    else this.#add(item);
    return item.settle.promise;
  }

  /** Reads what is due in the store; resolves when it is known whether there is something. */
  start(): Promise<void> {
    return this.#upkeep.run();
  }

  /** The store has something new for it. False when it is just being given back, or lost: make the endpoint due then. */
  nudge(): boolean {
    const { backlog, state, lease } = this.#parts;
    backlog.lookAnew();
    void this.#upkeep.run();
    return state.isOpen && !lease.isLost;
  }

  /** The endpoint's configuration may have changed. */
  refresh(): void {
    this.#parts.lease.expire();
    void this.#upkeep.run();
  }

  /** Finishes what is under way and gives the endpoint back. */
  release(): void {
    this.#parts.state.isReleased = true;
    this.#spill.drain();
    void this.#upkeep.run();
  }

  /** To be called every 100 ms or so. */
  tick(): void {
    const nowMs = this.#nowMs();
    this.#spill.storeOlder(nowMs - this.#parts.allowance.limitMs(nowMs));
    this.#parts.backlog.tick(nowMs);
    this.#waiting.admit();
    void this.#upkeep.run();
  }

  #add(item: Item): void {
    this.#parts.pending.add(item);
    this.#requests.begin();
  }

  async #storeFirst(item: Item): Promise<void> {
    const { pending, deps } = this.#parts;
    pending.expect(item);
    if (await storeWaiting(deps.deliveries, item)) this.#add(item);
    else pending.remove(item);
  }

  #isWorthWaiting(): boolean {
    const { state, allowance, backlog } = this.#parts;
    const nowMs = this.#nowMs();
    return state.isServing() && allowance.isWorthWaiting(nowMs, backlog.behindMs(nowMs));
  }

  #nowMs(): number {
    return this.#parts.deps.clock.now().getTime();
  }
}
