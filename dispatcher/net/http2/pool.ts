import { NotBegun } from "#core/domain/messages/outcome.ts";
import type { Exchange, Transport, TransportRequest, TransportResult } from "../transport.ts";
import { type ConnectionLimits, Http2Connection } from "./connection.ts";
import type { WireOptions } from "./wire.ts";

export type Http2PoolOptions = Partial<ConnectionLimits> &
  WireOptions & {
    maxConnections?: number;
    /** Requests that may wait for a stream; one more is `not_sent` at once. */
    maxWaiting?: number;
    /** How often one request may be refused, or see a connection fail, before it is `not_sent`. */
    maxAttempts?: number;
    tickMs?: number;
    /** 0 ≤ random < 1; spreads the connection attempts of many dispatchers. */
    random?: () => number;
  };

export type Http2PoolStats = { connections: number; underWay: number; waiting: number; opened: number };
export type Http2Pool = Transport & { stats: () => Http2PoolStats };

const defaults = {
  initialStreams: 100, // RFC 9113 6.5.2 recommends peers not to admit fewer
  startStreams: 100,
  maxStreams: 1000,
  connectTimeoutMs: 10_000,
  quietMs: 5000,
  pingTimeoutMs: 5000,
  idleMs: 600_000,
  maxConnections: 4,
  maxWaiting: 10_000,
  maxAttempts: 5,
  tickMs: 100, // aborted signals and deadlines are noticed this late, without a listener and a timer each
  random: Math.random,
};
const maxConnectDelayMs = 10_000; // shorter than a request's time, so that each sees an attempt
const firstConnectDelayMs = 100;

/**
 * HTTP/2 connections to one origin behind one `request`. One connection at first, one more at a time while requests
 * wait and every open one is full. What surely was not processed is sent again, at most `maxAttempts` times. Connections
 * that break again and again are an outage: the next one comes later each time, and begins with one request.
 */
export const http2Pool = (options: Http2PoolOptions): Http2Pool => {
  const pool = new Pool({ ...defaults, ...options });
  return {
    request: (request) => pool.request(request),
    close: () => pool.close(),
    stats: () => pool.stats(),
  };
};

/** Ends a waiting request that nobody wants to be sent any more. */
const isGivenUp = ({ request: { signal, isOver }, giveUp }: Exchange): boolean => {
  if (!signal.aborted && isOver?.() !== true) return false;
  giveUp();
  return true;
};

const notSent = (reason: string): Promise<TransportResult> => Promise.resolve({ kind: "not_sent", reason });

class Pool {
  readonly #options: typeof defaults & Http2PoolOptions;
  readonly #connections = new Set<Http2Connection>();
  #waiting: Exchange[] = [];
  #pending = 0;
  #opened = 0;
  /** Connections in a row that were of no use. */
  #failures = 0;
  #connectAfterMs = 0;
  #ticker: NodeJS.Timeout | null = null;
  #closed: PromiseWithResolvers<void> | null = null;

  constructor(options: typeof defaults & Http2PoolOptions) {
    this.#options = options;
  }

  request(request: TransportRequest): Promise<TransportResult> {
    if (request.signal.aborted) return Promise.reject(new NotBegun());
    if (this.#closed !== null) return notSent("the pool is closing");
    if (this.#waiting.length >= this.#options.maxWaiting) return notSent("too many requests wait");
    return new Promise((resolve, reject) => {
      this.#pending++;
      this.#waiting.push({
        request,
        deadlineAtMs: performance.now() + request.timeoutMs,
        attempts: 0,
        settle: (result) => {
          resolve(result);
          this.#left();
        },
        giveUp: () => {
          reject(new NotBegun());
          this.#left();
        },
      });
      this.#pump();
    });
  }

  stats(): Http2PoolStats {
    const underWay = [...this.#connections].reduce((sum, connection) => sum + connection.underWay, 0);
    return { connections: this.#connections.size, underWay, waiting: this.#waiting.length, opened: this.#opened };
  }

  async close(): Promise<void> {
    this.#closed ??= Promise.withResolvers();
    this.#finishClosing();
    await this.#closed.promise;
  }

  #pump(): void {
    this.#ticker ??= setInterval(() => setImmediate(() => this.#tick()), this.#options.tickMs); // once all that came is read
    for (const connection of this.#connections) {
      while (connection.freeStreams > 0) {
        const exchange = this.#waiting.shift();
        if (exchange === undefined) return;
        if (!isGivenUp(exchange)) connection.send(exchange);
      }
    }
    if (this.#waiting.length > 0) this.#grow();
  }

  #grow(): void {
    if (performance.now() < this.#connectAfterMs) return;
    if (this.#connections.size >= 2 * this.#options.maxConnections) return; // those that drain count too
    const usable = [...this.#connections].filter(({ phase }) => phase !== "draining");
    if (usable.length >= this.#options.maxConnections) return;
    if (usable.some(({ isProven }) => !isProven)) return; // it may turn out to have room for all
    this.#opened++;
    const options = this.#failures === 0 ? this.#options : { ...this.#options, startStreams: 1 };
    this.#connections.add(
      new Http2Connection(options, {
        changed: () => this.#pump(),
        returned: (exchange, reason) => this.#retry(exchange, reason),
        ended: (connection, reason) => this.#lose(connection, reason),
      }),
    );
  }

  #retry(exchange: Exchange, reason: string): void {
    exchange.attempts++;
    if (exchange.attempts >= this.#options.maxAttempts) exchange.settle({ kind: "not_sent", reason });
    else this.#waiting.unshift(exchange);
  }

  #lose(connection: Http2Connection, reason: string): void {
    this.#connections.delete(connection);
    const { answers, lost } = connection;
    const wasOfUse = lost === 0 ? answers > 0 : answers >= this.#options.startStreams; // what the next one puts at stake
    if (wasOfUse) this.#failures = 0;
    else if (lost > 0 || this.#pending > 0) this.#backOff(reason);
    this.#pump();
  }

  /** A connection ended before it was of use: wait longer each time, and let no request wait without end. */
  #backOff(reason: string): void {
    const delayMs = Math.min(maxConnectDelayMs, firstConnectDelayMs * 2 ** this.#failures++);
    this.#connectAfterMs = performance.now() + delayMs * (0.5 + this.#options.random() / 2);
    if ([...this.#connections].some(({ phase }) => phase === "open")) return; // they go over another one
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const exchange of waiting.reverse()) this.#retry(exchange, `could not connect: ${reason}`);
  }

  #tick(): void {
    const nowMs = performance.now();
    for (const connection of this.#connections) connection.tick(nowMs);
    this.#endOverdue(nowMs);
    if (this.#waiting.length > 0) this.#pump();
    if (this.#connections.size === 0 && this.#waiting.length === 0) this.#stopTicking();
  }

  #endOverdue(nowMs: number): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const exchange of waiting) {
      if (isGivenUp(exchange)) continue;
      if (nowMs < exchange.deadlineAtMs) this.#waiting.push(exchange);
      else exchange.settle({ kind: "not_sent", reason: "no connection was free in time" });
    }
  }

  #left(): void {
    this.#pending--;
    this.#finishClosing();
  }

  #finishClosing(): void {
    if (this.#closed === null || this.#pending > 0) return;
    for (const connection of this.#connections) connection.destroy("closing");
    this.#stopTicking();
    this.#closed.resolve();
  }

  #stopTicking(): void {
    if (this.#ticker !== null) clearInterval(this.#ticker);
    this.#ticker = null;
  }
}
