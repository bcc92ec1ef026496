import type { Deliveries } from "../history/deliveries.ts";
import type { Sent } from "../send/send-webhook.ts";
import type { Backlog } from "./backlog.ts";
import type { Item, PendingDeliveries } from "./pending-deliveries.ts";

const toBoolean = [() => true, () => false] as const;

export type StoringDeps = {
  deliveries: Pick<Deliveries, "keep" | "record">;
  /** Counts deliveries that are stored before they are sent. */
  deferred: (reason: "full" | "slow", count: number) => void;
};

/** Stores the deliveries that an endpoint queue has in memory: as pending when they cannot wait there, or with their result. */
export class Storing {
  readonly #deliveries: Pick<Deliveries, "keep" | "record">;
  readonly #pending: PendingDeliveries;
  readonly #backlog: Backlog;
  readonly #deferred: () => void;

  constructor({ deliveries, deferred }: StoringDeps, pending: PendingDeliveries, backlog: Backlog) {
    this.#deliveries = deliveries;
    this.#deferred = () => deferred("slow", 1);
    this.#pending = pending;
    this.#backlog = backlog;
  }

  /** Stores a delivery as pending before it may be sent, and settles it; whether it could be stored. Never rejects. */
  async storeFirst(item: Item): Promise<boolean> {
    this.#pending.expect(item);
    const isStored = await this.#storePending(item);
    if (!isStored) this.#pending.remove(item);
    return isStored;
  }

  /** Stores a result, with its delivery unless that is stored already, and settles the delivery. Never rejects. */
  async storeResult(item: Item, { result }: Sent): Promise<void> {
    const { keep, record } = this.#deliveries;
    try {
      const isStored = item.storing !== undefined && (await item.storing.then(...toBoolean));
      const { made, ...set } = result;
      if (isStored) await record(result);
      else await keep({ ...item.row, ...set, attempts: [...item.row.attempts, made] });
      item.settle.resolve();
    } catch (error) {
      item.settle.reject(error);
    }
    this.#pending.remove(item);
    if (item.isDueAnew === true) this.#backlog.lookAnew();
  }

  /** Stores as pending what came into memory before an instant, also what is being sent. */
  storeOlder(sinceMs: number): void {
    this.#moveOut(sinceMs);
    for (const item of this.#pending.unstoredUnderWay(sinceMs)) void this.#store(item);
  }

  /** Leaves nothing in memory but what is being sent. Answers what is only now being stored. */
  drain(): Item[] {
    const items = this.#moveOut(Number.POSITIVE_INFINITY);
    this.#pending.dropWaiting();
    return items;
  }

  #moveOut(sinceMs: number): Item[] {
    const items = this.#pending.takeUnstored(sinceMs);
    if (items.length > 0) this.#backlog.grow();
    for (const item of items) void this.#store(item);
    return items;
  }

  async #store(item: Item): Promise<void> {
    this.#deferred();
    await this.#storePending(item);
    this.#backlog.grow(); // a read that began before it was stored has missed it
  }

  async #storePending(item: Item): Promise<boolean> {
    item.storing = this.#deliveries.keep(item.row);
    await item.storing.then(item.settle.resolve, item.settle.reject);
    return item.storing.then(...toBoolean);
  }
}
