import type { Sent } from "../send/send.ts";
import type { QueueParts } from "./deps.ts";
import type { Item } from "./pending-deliveries.ts";

const toBoolean = [() => true, () => false] as const;

/** Stores the deliveries that an endpoint queue has in memory: as pending when they cannot wait there, or with their result. */
export class Storing {
  readonly #parts: Pick<QueueParts, "deps" | "pending" | "backlog">;

  constructor(parts: Pick<QueueParts, "deps" | "pending" | "backlog">) {
    this.#parts = parts;
  }

  /** Stores a delivery as pending and settles it; whether it could be stored. Never rejects. */
  async storePending(item: Item): Promise<boolean> {
    item.storing = this.#parts.deps.deliveries.keep(item.row);
    await item.storing.then(item.settle.resolve, item.settle.reject);
    return item.storing.then(...toBoolean);
  }

  /** Stores a result, with its delivery unless that is stored already, and settles the delivery. Never rejects. */
  async storeResult(item: Item, { result }: Sent): Promise<void> {
    const { keep, record } = this.#parts.deps.deliveries;
    try {
      const isStored = item.storing !== undefined && (await item.storing.then(...toBoolean));
      const { made, ...set } = result;
      if (isStored) await record(result);
      else await keep({ ...item.row, ...set, attempts: [...item.row.attempts, made] });
      item.settle.resolve();
    } catch (error) {
      item.settle.reject(error);
    }
    this.#parts.pending.remove(item);
  }

  /** Stores as pending what came into memory before an instant, also what is being sent. */
  storeOlder(sinceMs: number): void {
    this.#moveOut(sinceMs);
    for (const item of this.#parts.pending.unstoredUnderWay(sinceMs)) void this.#store(item);
  }

  /** Leaves nothing in memory but what is being sent. Answers what is only now being stored. */
  drain(): Item[] {
    const items = this.#moveOut(Number.POSITIVE_INFINITY);
    this.#parts.pending.dropWaiting();
    return items;
  }

  #moveOut(sinceMs: number): Item[] {
    const { pending, backlog } = this.#parts;
    const items = pending.takeUnstored(sinceMs);
    if (items.length > 0) backlog.grow();
    for (const item of items) void this.#store(item);
    return items;
  }

  async #store(item: Item): Promise<void> {
    await this.storePending(item);
    this.#parts.backlog.grow(); // a read that began before it was stored has missed it
  }
}
