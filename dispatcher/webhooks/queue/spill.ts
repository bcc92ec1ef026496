import type { QueueParts } from "./parts.ts";
import type { Item } from "./pending-deliveries.ts";
import { storeWaiting } from "./store-item.ts";

/** Stores deliveries that cannot wait in memory any longer: they are sent from the store later. */
export class Spill {
  readonly #parts: Pick<QueueParts, "deps" | "pending" | "backlog">;

  constructor(parts: Pick<QueueParts, "deps" | "pending" | "backlog">) {
    this.#parts = parts;
  }

  /** Stores what came into memory before an instant, also what is being sent. */
  storeOlder(sinceMs: number): void {
    this.#moveOut(sinceMs);
    for (const item of this.#parts.pending.unstoredUnderWay(sinceMs)) void this.#store(item);
  }

  /** Leaves nothing in memory but what is being sent: what waits is, or will be, in the store. Answers what is being stored. */
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
    await storeWaiting(this.#parts.deps.deliveries, item);
    this.#parts.backlog.grow(); // a read that began before it was stored has missed it
  }
}
