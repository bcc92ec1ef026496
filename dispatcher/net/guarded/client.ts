import type { Socket } from "node:net";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import { dns, type Resolve } from "#core/runtime/http/resolve.ts";
import { connector } from "./connect.ts";
import { type Connection, connectionOver } from "./connection.ts";
import { type Exchanged, exchange, type GuardedReply, type GuardedRequest } from "./exchange.ts";
import { type Failure, failures } from "./failures.ts";
import { http2Origins } from "./http2.ts";
import type { Pool } from "./pool.ts";
import { connectionPools } from "./pools.ts";

export type { GuardedReply, GuardedRequest } from "./exchange.ts";

export type GuardedClient = ReturnType<typeof guardedClient>;

export type GuardedClientDeps = {
  guard: AddressGuard;
  /** How names are resolved; DNS as the machine is set up when left out. */
  resolve?: Resolve;
  /** A further certificate authority, PEM. */
  ca?: string;
  /** Idle connections that are kept in all. */
  maxIdle?: number;
};

/**
 * The one way out to addresses that users give: docs/decisions/0040. A request never rejects. It follows no redirect, uses
 * no proxy, inflates nothing. When its signal aborts, what was sent is `broken` and all else `unreached`. `connect` makes a
 * connection for another protocol, which is the caller's from then on.
 */
export const guardedClient = (deps: GuardedClientDeps) => {
  const { guard, resolve = dns(), ca, maxIdle = maxIdleConnections } = deps;
  const connections = connector({ guard, resolve, ...(ca === undefined ? {} : { ca }) });
  const [http2, pools] = [http2Origins(connections), connectionPools(maxIdle)];
  const sockets = new Set<Socket>();

  const open = async (
    pool: Pool,
    wanted: GuardedRequest,
    signal: AbortSignal,
  ): Promise<Connection | Failure | null> => {
    const late = AbortSignal.timeout(wanted.connectTimeoutMs);
    const made = await connections.connect(wanted.url, AbortSignal.any([late, signal]), ["http/1.1"]);
    if ("errorClass" in made) return pool.failed(signal.aborted ? null : made) ? made : null;
    const fresh = connectionOver(made, wanted.url);
    sockets.add(made);
    made.once("close", () => {
      sockets.delete(made);
      pools.forget(fresh);
    });
    pool.opened();
    return fresh;
  };
  /** `isLast` unless it may be made once more when it met the closing of a kept connection. */
  const converse = async (
    pool: Pool,
    wanted: GuardedRequest,
    signal: AbortSignal,
    isLast = false,
  ): Promise<GuardedReply> => {
    const granted = await pool.take(signal);
    const over = granted === "open" ? await open(pool, wanted, signal) : granted;
    if (over === null) return converse(pool, wanted, signal, isLast); // others serve
    if ("errorClass" in over) return { kind: "unreached", ...over };
    const exchanged = await sendOver(pool, over, wanted, signal);
    if (isLast || granted === "open" || !metItsClosing(exchanged, wanted)) return exchanged.reply;
    pool.closeIdle();
    return converse(pool, wanted, signal, true);
  };
  return {
    request: async (wanted: GuardedRequest, signal: AbortSignal): Promise<GuardedReply> => {
      const problem = guard.problemOf(wanted.url);
      if (problem !== null) return { kind: "refused", reason: problem, errorClass: "address_refused" };
      const { poolKey, maxConnections, url } = wanted;
      const endsAtMs = performance.now() + wanted.timeoutMs;
      const reply = wanted.mayUseHttp2 === true ? await http2.request(wanted, signal, endsAtMs) : null;
      if (reply !== null) return reply;
      return pools.using(`${poolKey} ${maxConnections} ${url.origin}`, maxConnections, (pool) =>
        within(endsAtMs - performance.now(), signal, (ending) => converse(pool, wanted, ending)),
      );
    },
    connect: connections.connectPlain,
    /** Closes every connection; requests under way end as broken. */
    close: (): void => {
      pools.close();
      http2.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const maxIdleConnections = 1_024;

const sendOver = async (pool: Pool, over: Connection, wanted: GuardedRequest, signal: AbortSignal) => {
  const exchanged = wanted.isOver?.() === true ? givenUp : await exchange(over, wanted, signal);
  pool.keep(over);
  return exchanged;
};

const givenUp: Exchanged = { reply: { kind: "unreached", ...failures.givenUp }, reached: "nothing" };

/** The server closed a kept connection at the moment when it was used again, and did nothing of the request. */
const metItsClosing = ({ reply, reached }: Exchanged, { mayRepeat }: GuardedRequest): boolean =>
  reply.kind === "broken" &&
  reply.errorClass === "reset" &&
  (reached === "nothing" || (reached === "request" && mayRepeat));

/** Runs `fn` with a signal that aborts with `signal` or when the time is up. Dearer ways exist: AbortSignal.any. */
const within = async <T>(timeMs: number, signal: AbortSignal, fn: (ending: AbortSignal) => Promise<T>): Promise<T> => {
  const ending = new AbortController();
  const end = (): void => ending.abort();
  const timer = setTimeout(end, timeMs);
  signal.addEventListener("abort", end, { once: true });
  if (signal.aborted) end();
  try {
    return await fn(ending.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", end);
  }
};
