import type { Socket } from "node:net";
import type { AddressGuard } from "#core/runtime/http/address-guard.ts";
import { dns, type Resolve } from "#core/runtime/http/resolve.ts";
import { connector } from "./connect.ts";
import { type Connection, connectionOver } from "./connection.ts";
import { type Exchanged, exchange, type GuardedReply, type GuardedRequest } from "./exchange.ts";
import { type Failure, failures } from "./failures.ts";
import { connectionPools, type Pool } from "./pools.ts";

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
 * no proxy, inflates nothing. When its signal aborts, what was sent is `broken` and all else `unreached`.
 */
export const guardedClient = (deps: GuardedClientDeps) => {
  const { guard, resolve = dns(), ca, maxIdle = maxIdleConnections } = deps;
  const connect = connector({ guard, resolve, ...(ca === undefined ? {} : { ca }) });
  const pools = connectionPools(maxIdle);
  const sockets = new Set<Socket>();

  const open = async (pool: Pool, wanted: GuardedRequest, signal: AbortSignal): Promise<Connection | Failure> => {
    const late = AbortSignal.timeout(wanted.connectTimeoutMs);
    const made = await connect(wanted.url, AbortSignal.any([late, signal]));
    if ("errorClass" in made) {
      pools.failed(pool, signal.aborted ? null : made);
      return made;
    }
    const fresh = connectionOver(made, wanted.url);
    sockets.add(made);
    made.once("close", () => {
      sockets.delete(made);
      pools.forget(fresh);
    });
    pools.opened(pool);
    return fresh;
  };
  const sendOver = async (pool: Pool, over: Connection, wanted: GuardedRequest, signal: AbortSignal) => {
    const exchanged = wanted.isOver?.() === true ? givenUp : await exchange(over, wanted, signal);
    pools.keep(pool, over);
    return exchanged;
  };
  /** `isLast` unless it may be made once more when it met the closing of a kept connection. */
  const converse = async (wanted: GuardedRequest, signal: AbortSignal, isLast = false): Promise<GuardedReply> => {
    const { poolKey, maxConnections, url } = wanted;
    const pool = pools.of(`${poolKey} ${maxConnections} ${url.origin}`, maxConnections);
    const granted = await pools.take(pool, signal);
    const over = granted === "open" ? await open(pool, wanted, signal) : granted;
    if ("errorClass" in over) return { kind: "unreached", ...over };
    const exchanged = await sendOver(pool, over, wanted, signal);
    if (isLast || granted === "open" || !metItsClosing(exchanged, wanted)) return exchanged.reply;
    pools.closeIdle(pool); // what is idle for longer is closed by now, too
    return converse(wanted, signal, true);
  };
  return {
    request: async (wanted: GuardedRequest, signal: AbortSignal): Promise<GuardedReply> => {
      const problem = guard.problemOf(wanted.url);
      if (problem !== null) return { kind: "refused", reason: problem, errorClass: "address_refused" };
      return within(wanted.timeoutMs, signal, (ending) => converse(wanted, ending));
    },
    /** Closes every connection; requests under way end as broken. */
    close: (): void => {
      pools.close();
      for (const socket of sockets) socket.destroy();
    },
  };
};

const maxIdleConnections = 1_024;

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
