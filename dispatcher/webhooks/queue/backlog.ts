import { maxEventBytes } from "#core/domain/events/text.ts";
import type { WebhookDeliveries } from "#core/storage/webhooks/deliveries.ts";
import { charactersOf, type PendingDeliveries } from "./pending-deliveries.ts";
import type { ReadMemory } from "./read-memory.ts";

export type BacklogDeps = {
  deliveries: Pick<WebhookDeliveries, "due" | "nextDueAt">;
  memory: ReadMemory;
};

const pageRows = { least: 20, most: 200 };
const quickReadMs = 1_000;
const never = Number.POSITIVE_INFINITY;

/** What waits in the store for one endpoint, as far as its queue knows. */
export class Backlog {
  readonly #deliveries: BacklogDeps["deliveries"];
  readonly #endpointId: string;
  #isBehind = true;
  #isReading = false;
  /** When the store had nothing due for the last time, ms. */
  #levelMs: number;
  #retryAtMs = never;
  /** Whether all retries in the store are known. */
  #knowsRetries = false;
  #looks = 0;
  #readMs = 0;
  #rows = pageRows.least;
  /** Mean size of a body on the last page; before, the largest that there may be. */
  #characters = maxEventBytes;
  readonly #memory: ReadMemory;

  constructor({ deliveries, memory }: BacklogDeps, endpointId: string, nowMs: number) {
    this.#deliveries = deliveries;
    this.#memory = memory;
    this.#endpointId = endpointId;
    this.#levelMs = nowMs;
  }

  /** Whether the store may have due deliveries that are not in memory. */
  get isBehind(): boolean {
    return this.#isBehind;
  }

  /** Whether nothing due is left in the store, as far as is known. */
  get isLevel(): boolean {
    return !this.#isBehind && !this.#isReading;
  }

  /** When the next retry that we know of is due, ms. */
  get retryAtMs(): number {
    return this.#retryAtMs;
  }

  /** Grows whenever the store may have something new. */
  get looks(): number {
    return this.#looks;
  }

  /** For how long it has been behind at least; exact to a tick. */
  behindMs(nowMs: number): number {
    return nowMs - this.#levelMs;
  }

  /** The queue has stored what is due now. */
  grow(): void {
    this.#isBehind = true;
  }

  /** The queue has made a request that is to be tried again. */
  retryAt(dueAt: Date): void {
    this.#retryAtMs = Math.min(this.#retryAtMs, dueAt.getTime());
  }

  /** Another process may have stored deliveries, due now or later. */
  lookAnew(): void {
    this.#isBehind = true;
    this.#knowsRetries = false;
    this.#looks++;
  }

  /** Another process serves the endpoint now. */
  leave(): void {
    this.#isBehind = false;
  }

  /** To be called often. */
  tick(nowMs: number): void {
    if (this.isLevel) this.#levelMs = nowMs;
    if (this.#retryAtMs > nowMs) return;
    this.#retryAtMs = never;
    this.lookAnew();
  }

  /**
   * Reads what is due into memory, more at a time when the endpoint is trusted to answer. What is stored while it reads is
   * read the next time.
   */
  async read(pending: PendingDeliveries, now: Date, isTrusted: boolean): Promise<void> {
    this.#isBehind = false;
    this.#isReading = true;
    try {
      const count = await this.#readPage(pending, now, isTrusted);
      if (count > 0) this.#isBehind = true;
      else if (!this.#knowsRetries) await this.#learnRetries(now);
    } catch (error) {
      this.lookAnew();
      throw error;
    } finally {
      this.#isReading = false;
    }
  }

  /** Reads a page, twice as large as the last one when it follows soon. Answers how many deliveries came into memory. */
  async #readPage(pending: PendingDeliveries, now: Date, isTrusted: boolean): Promise<number> {
    const isQuick = now.getTime() - this.#readMs < quickReadMs;
    this.#rows = isQuick ? Math.min(this.#rows * 2, pageRows.most) : pageRows.least;
    this.#readMs = now.getTime();
    const page = this.#memory.page(isTrusted);
    const fitting = Math.max(1, Math.floor(page / this.#characters));
    const limit = Math.min(this.#rows, fitting) + pending.size; // those in memory may be among what is read
    const due = (status: "pending" | "failed") => this.#deliveries.due(this.#endpointId, { status, now, limit });
    const read = async () => {
      const rows = alternating(await Promise.all([due("pending"), due("failed")])); // in turn, should not all fit
      if (rows.length > 0) this.#characters = Math.max(1, charactersOf(rows) / rows.length);
      return rows;
    };
    return pending.readFrom(read, now.getTime(), page);
  }

  async #learnRetries(now: Date): Promise<void> {
    this.#knowsRetries = true; // before it asks: whoever stores something meanwhile notifies the queue
    const next = await this.#deliveries.nextDueAt(this.#endpointId, now);
    if (next !== null) this.retryAt(next);
  }
}

/** Items of both in turn, then what is left of the longer. */
const alternating = <T>([one, other]: [T[], T[]]): T[] => [
  ...one.flatMap((item, i) => [item, ...other.slice(i, i + 1)]),
  ...other.slice(one.length),
];
