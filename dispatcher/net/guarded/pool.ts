import type { Connection } from "./connection.ts";
import { type Failure, failures } from "./failures.ts";

/** What a request is given: a connection, leave to open one, or the reason why it gets none. */
export type Grant = Connection | "open" | Failure;

type Waiter = (grant: Grant) => void;

/**
 * How long after one connection the next is opened: three times as long as a request takes, of late. Most that wait are
 * served meanwhile by those that become free; on a busy machine it is this process that takes long, and not the receiver.
 */
const openEvery = { requests: 3, leastMs: 5, mostMs: 300 };
const refusedMs = 1_000; // when one could not be opened beside others: until a further one is tried

/**
 * Connections to one origin for one owner, each for one request at a time. Requests that wait take what comes first, a
 * connection that becomes free or a new one. New ones are opened one at a time, the more slowly the longer a request takes:
 * a burst then needs few, and one to open costs as much as some requests.
 */
export class Pool {
  readonly key: string;
  /** Requests that take from it. */
  users = 0;
  readonly #most: number;
  readonly #allIdle: Map<Connection, Pool>;
  readonly #idle: Connection[] = []; // the one used last at the end
  readonly #waiting = new Set<Waiter>(); // the longest waiting first
  #inUse = 0;
  #opening = 0;
  /** How long a request has a connection, of late; unknown before the first. */
  #usedMs: number | null = null;
  #lastOpenMs = Number.NEGATIVE_INFINITY;
  #refusedUntilMs = Number.NEGATIVE_INFINITY;
  #looksSoon = false;

  /** Has `most` ≥ 1 connections at most. `allIdle` has the idle ones of all pools. */
  constructor(key: string, most: number, allIdle: Map<Connection, Pool>) {
    this.key = key;
    this.#most = most;
    this.#allIdle = allIdle;
  }

  get isEmpty(): boolean {
    return this.users + this.#idle.length === 0;
  }

  /**
   * Waits for a connection, to be followed by `keep`, or for leave to open one, to be followed by `opened` and `keep`, or by
   * `failed`. Gives up when `signal` aborts.
   */
  async take(signal: AbortSignal): Promise<Grant> {
    return signal.aborted ? failures.placeLate : (this.#grant() ?? this.#wait(signal));
  }

  opened(): void {
    this.#opening--;
    this.#inUse++;
    this.#admit();
  }

  /**
   * `failure` is that of all who wait, unless connections stand, which they are served by in turn: a receiver may refuse
   * a further one and be well. False in that case: who opened waits with them. Null when they alone have no time left.
   */
  failed(failure: Failure | null): boolean {
    this.#opening--;
    const isAlone = this.#inUse + this.#idle.length === 0;
    if (failure !== null && isAlone) for (const waiter of this.#waiting) waiter(failure);
    if (failure !== null && !isAlone) this.#refusedUntilMs = performance.now() + refusedMs;
    this.#admit();
    return failure === null || isAlone;
  }

  /** Takes back a connection after its request: for the next one, unless it is closed. */
  keep(connection: Connection): void {
    this.#inUse--;
    const usedMs = performance.now() - connection.takenMs;
    this.#usedMs = this.#usedMs === null ? usedMs : this.#usedMs * 0.8 + usedMs * 0.2;
    if (!connection.socket.destroyed) {
      this.#idle.push(connection);
      this.#allIdle.set(connection, this);
    }
    this.#admit();
  }

  /** Forgets an idle connection. */
  forget(connection: Connection): void {
    this.#allIdle.delete(connection);
    this.#idle.splice(this.#idle.indexOf(connection), 1);
  }

  /** Closes what is idle: its server closes what is unused, and has closed one. */
  closeIdle(): void {
    for (const connection of this.#idle.splice(0)) {
      this.#allIdle.delete(connection);
      connection.socket.destroy();
    }
  }

  /** Gives what there is to those who wait. */
  #admit(): void {
    for (const waiter of this.#waiting) {
      const granted = this.#grant();
      if (granted === null) return;
      waiter(granted);
    }
  }

  #grant(): Connection | "open" | null {
    const kept = this.#idle.pop();
    if (kept !== undefined) {
      this.#allIdle.delete(kept);
      kept.takenMs = performance.now();
      this.#inUse++;
      return kept;
    }
    if (this.#inUse + this.#opening >= this.#most) return null;
    const nowMs = performance.now();
    const { requests, leastMs, mostMs } = openEvery;
    const nextMs = this.#lastOpenMs + Math.min(Math.max(requests * (this.#usedMs ?? 0), leastMs), mostMs);
    const inMs = (this.#inUse > 0 ? Math.max(nextMs, this.#refusedUntilMs) : nextMs) - nowMs;
    if (inMs > 0) return this.#admitIn(inMs);
    this.#lastOpenMs = nowMs;
    this.#opening++;
    return "open";
  }

  #admitIn(ms: number): null {
    if (this.#looksSoon) return null;
    this.#looksSoon = true;
    setTimeout(() => {
      this.#looksSoon = false;
      this.#admit();
    }, ms);
    return null;
  }

  #wait(signal: AbortSignal): Promise<Grant> {
    const { promise, resolve } = Promise.withResolvers<Grant>();
    const waiter = (grant: Grant): void => {
      this.#waiting.delete(waiter);
      signal.removeEventListener("abort", late);
      resolve(grant);
    };
    const late = (): void => waiter(failures.placeLate);
    this.#waiting.add(waiter);
    signal.addEventListener("abort", late, { once: true });
    return promise;
  }
}
