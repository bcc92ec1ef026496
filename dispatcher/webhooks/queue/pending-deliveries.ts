import type { WebhookDeliveryRow } from "#core/storage/webhooks/deliveries.ts";
import { type ReadMemory, readMemory } from "./read-memory.ts";

/** A delivery that an endpoint queue has in memory. */
export type Item = {
  row: WebhookDeliveryRow;
  /** When it came into memory, ms. */
  sinceMs: number;
  /** The write that stores it; undefined while it is only in memory. */
  storing: Promise<void> | undefined;
  /** Resolves once the store has it: for the caller that gave it. Nobody waits for what was read from the store. */
  settle: PromiseWithResolvers<void>;
  /** Size of its body, when it was read from the store. */
  readCharacters?: number;
  /** It was made due anew after its result was stored, and before that was known here. */
  isDueAnew?: boolean;
};

/**
 * The deliveries that an endpoint queue has in memory: those that wait, those that are being sent, and those whose result
 * is being stored. Decides which is next.
 */
export class PendingDeliveries {
  readonly #firsts: Item[] = [];
  readonly #retries: Item[] = [];
  readonly #underWay = new Set<Item>();
  readonly #subjects = new Set<string>();
  readonly #known = new Map<string, Item>();
  #retriesUnderWay = 0;
  /** What was removed since a read of the store began, and its requests before; undefined while there is none. */
  #removed: Map<string, number> | undefined;
  readonly #memory: Pick<ReadMemory, "add">;

  constructor(memory: Pick<ReadMemory, "add"> = readMemory()) {
    this.#memory = memory;
  }

  add(item: Item): void {
    this.#known.set(item.row._id, item);
    (item.row.attempt === 0 ? this.#firsts : this.#retries).push(item);
  }

  /** Makes a delivery known that is added once it is stored, so that a read of the store leaves it out. */
  expect(item: Item): void {
    this.#known.set(item.row._id, item);
  }

  get(id: string): Item | undefined {
    return this.#known.get(id);
  }

  get waiting(): number {
    return this.#firsts.length + this.#retries.length;
  }

  get underWay(): number {
    return this.#underWay.size;
  }

  /** All that are in memory, also those that are being stored. */
  get size(): number {
    return this.#known.size;
  }

  /** Whether one may be sent now. */
  hasNext(): boolean {
    return [this.#firsts, this.#retries].some((list) => this.#at(list) !== -1);
  }

  /**
   * The next one to send, now under way: of one subject one at a time, in order; retries have at most as many places as
   * first requests while both wait. Null when none may be sent now.
   */
  next(): Item | null {
    const [one, other] = this.#isRetrysTurn() ? [this.#retries, this.#firsts] : [this.#firsts, this.#retries];
    const item = this.#take(one) ?? this.#take(other);
    if (item === null) return null;
    this.#underWay.add(item);
    if (item.row.attempt > 0) this.#retriesUnderWay++;
    if (item.row.subject_id !== null) this.#subjects.add(item.row.subject_id);
    return item;
  }

  /** Its request has ended; it stays known until it is removed. */
  ended(item: Item): void {
    this.#underWay.delete(item);
    if (item.row.attempt > 0) this.#retriesUnderWay--;
    if (item.row.subject_id !== null) this.#subjects.delete(item.row.subject_id);
  }

  /** The store has its result. */
  remove({ row }: Item): void {
    this.#drop(row._id);
    this.#removed?.set(row._id, row.attempt);
  }

  #drop(id: string): void {
    this.#memory.add(-(this.#known.get(id)?.readCharacters ?? 0));
    this.#known.delete(id);
  }

  /**
   * Reads deliveries of the store and adds those that are not in memory, up to so many characters; answers how many. A
   * delivery whose result was stored during the read may still look due: it is left out, unless it counts that request.
   */
  async readFrom(read: () => Promise<WebhookDeliveryRow[]>, sinceMs: number, mostCharacters: number): Promise<number> {
    const removed = new Map<string, number>();
    this.#removed = removed;
    const found = await read().finally(() => {
      this.#removed = undefined;
    });
    for (const row of found) this.#noteDueAnew(row);
    const rows = found.filter(({ _id, attempt }) => !this.#known.has(_id) && attempt > (removed.get(_id) ?? -1));
    const taken = within(rows, mostCharacters);
    for (const row of taken) this.add(storedItem(row, sinceMs));
    this.#memory.add(charactersOf(taken));
    return taken.length;
  }

  #noteDueAnew({ _id, attempt }: WebhookDeliveryRow): void {
    const item = this.#known.get(_id);
    if (item !== undefined && attempt > item.row.attempt) item.isDueAnew = true;
  }

  /** Takes out what waits since an instant or longer and is not in the store. */
  takeUnstored(sinceMs: number): Item[] {
    const isOld = (item: Item): boolean => item.storing === undefined && item.sinceMs <= sinceMs;
    const old = this.#firsts.filter(isOld);
    if (old.length === 0) return old;
    const rest = this.#firsts.filter((item) => !isOld(item));
    this.#firsts.splice(0, this.#firsts.length, ...rest);
    for (const item of old) this.#drop(item.row._id);
    return old;
  }

  /** What is being sent since an instant or longer and is not in the store. */
  unstoredUnderWay(sinceMs: number): Item[] {
    return [...this.#underWay].filter((item) => item.storing === undefined && item.sinceMs <= sinceMs);
  }

  /** Removes what waits and was read from the store; answers how many these were. */
  dropRead(): number {
    const read = [this.#firsts, this.#retries].flatMap((list) => list.filter(isRead));
    for (const list of [this.#firsts, this.#retries])
      list.splice(0, list.length, ...list.filter((item) => !isRead(item)));
    for (const { row } of read) this.#drop(row._id);
    return read.length;
  }

  /** Removes what waits and is in the store. */
  dropWaiting(): void {
    for (const list of [this.#firsts, this.#retries]) {
      for (const { row } of list) this.#drop(row._id);
      list.length = 0;
    }
  }

  #isRetrysTurn(): boolean {
    return this.#retriesUnderWay < this.#underWay.size - this.#retriesUnderWay;
  }

  #take(list: Item[]): Item | null {
    const at = this.#at(list);
    return at === -1 ? null : (list.splice(at, 1)[0] ?? null);
  }

  #at(list: readonly Item[]): number {
    return list.findIndex(({ row: { subject_id: subject } }) => subject === null || !this.#subjects.has(subject));
  }
}

const isRead = ({ readCharacters }: Item): boolean => readCharacters !== undefined;

/** A new delivery, which is only in memory. */
export const newItem = (row: WebhookDeliveryRow, sinceMs: number): Item => ({
  row,
  sinceMs,
  storing: undefined,
  settle: Promise.withResolvers<void>(),
});

/** A delivery that was read from the store; nobody waits for it to be stored. */
const storedItem = (row: WebhookDeliveryRow, sinceMs: number): Item => {
  const settle = Promise.withResolvers<void>();
  settle.promise.catch(() => undefined);
  return { row, sinceMs, storing: Promise.resolve(), settle, readCharacters: row.payload.length };
};

/** The first of them, at least one, that have so many characters in all. */
const within = (rows: readonly WebhookDeliveryRow[], mostCharacters: number): WebhookDeliveryRow[] => {
  let left = mostCharacters;
  return rows.filter(({ payload }, i) => (left -= payload.length) >= 0 || i === 0);
};

export const charactersOf = (rows: readonly WebhookDeliveryRow[]): number =>
  rows.reduce((sum, { payload }) => sum + payload.length, 0);
